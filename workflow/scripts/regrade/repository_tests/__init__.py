"""Running a repository's tests on an answer."""
