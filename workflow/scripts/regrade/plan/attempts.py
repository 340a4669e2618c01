"""How often a job has ended in an infrastructure error: what retries are planned from."""

from pathlib import Path

from regrade import files


class Attempts:
    """Counts errors of jobs, up to the number of retries, and reads each count once.

    A job that ended in an error has one more behind it than when it was planned, so its specification changed and it
    is planned again; after `most` errors the number stands still. Snakemake asks for params twice, before and after
    the jobs that come first, and must get the same answer.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: dict[tuple[Path, str], int] = {}

    def of(self, errors: Path, digest: str) -> int:
        """The errors of the job with this digest in an errors file, `most` at most."""
        key = (errors, digest)
        if key not in self._seen:
            count = sum(row["digest"] == digest for row in files.read_jsonl(errors))
            self._seen[key] = min(count, self._most)
        return self._seen[key]
