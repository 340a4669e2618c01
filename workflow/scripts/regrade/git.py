"""git, as if this machine and the folders around had no settings of their own."""

import os
import subprocess
from pathlib import Path

from regrade.errors import RegradeError

AUTHOR = ("Regrade", "regrade@example.invalid", "2000-01-01T00:00:00+0000")
"""Name, address and date of every commit that Regrade makes, so that the same files give the same commit."""

_SETTINGS = (
    *("-c", f"core.attributesFile={os.devnull}", "-c", f"core.excludesFile={os.devnull}"),
    *("-c", "init.defaultBranch=main", "-c", "safe.directory=*", "-c", "core.autocrlf=false", "-c", "gc.auto=0"),
)


class GitError(RegradeError):
    """git ended with another exit code than 0; the message has that and its words."""


def git(
    folder: Path, *words: str, stdin: bytes = b"", git_dir: Path | None = None, work_tree: Path | None = None
) -> bytes:
    """What git prints when it is called in a folder. Raises GitError.

    `git_dir` is the repository, `work_tree` the files; without them git looks in the folder, and in none above it.
    """
    done = subprocess.run(
        ["git", *_SETTINGS, *words],
        cwd=folder,
        env={**_environment(folder), **_place("GIT_DIR", git_dir), **_place("GIT_WORK_TREE", work_tree)},
        input=stdin,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise GitError(f"git exited {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _environment(folder: Path) -> dict[str, str]:
    """The variables for git in a folder, whose parents are no repository to it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C"}
    name, address, date = AUTHOR
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", address), ("DATE", date))
    }
    above = {"GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(folder)), "GIT_NO_LAZY_FETCH": "1"}
    return {**kept, **quiet, **who, **above}


def _place(name: str, place: Path | None) -> dict[str, str]:
    return {} if place is None else {name: os.path.abspath(place)}
