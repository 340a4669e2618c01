"""A task's repository at its base commit: all its files, and whether any of them holds a name.

A repository is a clone (bare or not) or a git bundle. Its own settings, and those of this machine, do not count.
"""

import gzip
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from regrade.errors import RegradeError
from regrade.git import GitError, git

_NOT_FOUND = "git exited 1:"


@dataclass(frozen=True)
class Base:
    """One commit of an opened repository."""

    place: Path
    commit: str

    def archive(self) -> bytes:
        """A tar.gz of the commit's files, the same bytes each time."""
        return gzip.compress(self.tar(), mtime=0)

    def tar(self) -> bytes:
        """The same, not compressed."""
        return git(self.place, "archive", "--format=tar", self.commit)

    def holds(self, artifact: str) -> bool:
        """Whether a name stands in any of the commit's files as a whole."""
        plain = re.sub(r"([.\[\]{}()*+?^$|\\])", r"\\\1", artifact)
        whole = f"(^|[^A-Za-z0-9_$-]){plain}($|[^A-Za-z0-9_$-])"
        try:
            git(self.place, "grep", "--quiet", "-E", "-e", whole, self.commit, "--")
        except GitError as error:
            if str(error).startswith(_NOT_FOUND):
                return False
            raise
        return True


@contextmanager
def opened(repo: Path, commit: str) -> Iterator[Base]:
    """A commit of a repository. Raises RegradeError for one that cannot be read, or that does not hold the commit."""
    if not repo.exists():
        raise RegradeError(f"{repo}: does not exist, expected a clone or a git bundle of the task's repository")
    with tempfile.TemporaryDirectory(prefix="regrade-repository-") as folder:
        place = Path(folder)
        git(place, "init", "--quiet", "--bare", ".")
        _bring(repo, place)
        try:
            git(place, "cat-file", "-e", f"{commit}^{{commit}}")
        except GitError as error:
            raise RegradeError(
                f"{error} ({repo} does not hold the base commit {commit}, expected a full clone or bundle)"
            ) from None
        yield Base(place, commit)


def _bring(repo: Path, place: Path) -> None:
    """Make the repository's objects readable from an empty one."""
    try:
        if repo.is_dir():
            found = git(repo, "rev-parse", "--path-format=absolute", "--git-path", "objects")
            (place / "objects" / "info" / "alternates").write_bytes(found)
        else:
            git(place, "bundle", "unbundle", os.path.abspath(repo))
    except GitError as error:
        raise RegradeError(f"{error} ({repo} is neither a clone nor a whole git bundle)") from None
