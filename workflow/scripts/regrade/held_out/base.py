"""The base commit without history: as a repository of one commit, and what a workspace changed in it."""

import io
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regrade.errors import InputsError, RegradeError
from regrade.formats.selfbench.repository import opened
from regrade.git import git

_DIFF = ("diff", "--cached", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "HEAD")


def unpack(repo: Path, commit: str, target: Path) -> None:
    """Write a commit's files. `repo` is a clone or a git bundle. Raises InputsError."""
    try:
        with opened(repo, commit) as found:
            archive = found.tar()
    except RegradeError as error:
        raise InputsError(str(error)) from error
    with tarfile.open(fileobj=io.BytesIO(archive)) as stream:
        stream.extractall(target, filter="tar")


def make(files: Path, repository: Path) -> None:
    """Make the repository (the content of a `.git` folder) whose only commit holds these files, ignored ones too."""
    git(files, "init", "--quiet", "--bare", str(repository.absolute()))
    git(repository, "config", "core.bare", "false", git_dir=repository)
    git(files, "add", "--all", "--force", ".", git_dir=repository, work_tree=files)
    git(
        files,
        "commit",
        "--quiet",
        "--allow-empty",
        "--no-verify",
        "--message",
        "base",
        git_dir=repository,
        work_tree=files,
    )
    for name in ("hooks", "logs", "COMMIT_EDITMSG", "description"):
        place = repository / name
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)


def clean(repository: Path, tree: Path) -> None:
    """Make the commit's files what they were and remove all others but ignored ones, as after a set-up."""
    with _own(repository) as own:
        git(tree, "reset", "--quiet", "--hard", git_dir=own, work_tree=tree)
        git(tree, "clean", "-d", "--force", "--force", "--quiet", git_dir=own, work_tree=tree)


def changes(repository: Path, workspace: Path) -> bytes:
    """What a workspace changed, as a patch that git applies to the base; ignored files are no part of it.

    Whatever was done with git in the workspace does not count. Raises GitError.
    """
    with _own(repository) as own:
        git(workspace, "add", "--all", ".", git_dir=own, work_tree=workspace)
        return git(workspace, *_DIFF, git_dir=own, work_tree=workspace)


@contextmanager
def _own(repository: Path) -> Iterator[Path]:
    """A copy of the repository for one use, so that no index of it is written by two."""
    with tempfile.TemporaryDirectory(prefix="regrade-base-") as folder:
        yield Path(shutil.copytree(repository, Path(folder) / "git"))
