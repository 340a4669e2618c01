"""Reading and changing a workspace by relative names that may never lead out of it, for harnesses.

Every function takes the workspace's folder; every name is POSIX and relative to it. RegradeError for a name that is
absolute, has `..`, leads out through a link, or that the file system refuses.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from regrade import digests
from regrade.errors import RegradeError


def resolve(workspace: Path, name: str) -> Path | None:
    """The place that a name leads to, all links followed; None if that is not in the workspace."""
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts:
        return None
    root = os.path.realpath(workspace)
    place = os.path.realpath(os.path.join(root, name))
    return Path(place) if place == root or place.startswith(f"{root.rstrip('/')}/") else None


def list_files(workspace: Path) -> list[str]:
    """The names of regular files, sorted; of links only those to a regular file in the workspace."""
    return [name for name, entry in digests.walk(workspace) if _is_own_file(workspace, name, entry)]


def list_folders(workspace: Path) -> list[str]:
    """The names of all folders below the workspace, sorted; links to folders are none."""
    found = []
    for folder, names, _ in os.walk(workspace):
        for name in names:
            place = Path(folder, name)
            if not place.is_symlink():
                found.append(place.relative_to(workspace).as_posix())
    return sorted(found)


def exists(workspace: Path, name: str) -> bool:
    """Whether a name leads to a regular file."""
    with _said(name):
        return _inside(workspace, name).is_file()


def read(workspace: Path, name: str) -> str:
    """A file's UTF-8 text, line ends as they are."""
    with _said(name):
        return _inside(workspace, name).read_bytes().decode("utf-8")


def write(workspace: Path, name: str, text: str) -> None:
    """Make or replace a file's text, and the folders above it; a link in the workspace is written through."""
    with _said(name):
        place = _inside(workspace, name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8"))


def delete(workspace: Path, name: str) -> bool:
    """Remove a file, or a link to one but not its target; False if there is none, or a folder."""
    with _said(name):
        if not _inside(workspace, name).is_file():
            return False
        (workspace / name).unlink()
        return True


def _inside(workspace: Path, name: str) -> Path:
    place = resolve(workspace, name)
    if place is None:
        raise RegradeError(f"{name!r}: leads out of the workspace, expected a name inside it")
    return place


def _is_own_file(workspace: Path, name: str, entry: "os.DirEntry[str]") -> bool:
    if not entry.is_symlink():
        return entry.is_file(follow_symlinks=False)
    place = resolve(workspace, name)
    return place is not None and place.is_file()


@contextmanager
def _said(name: str) -> Iterator[None]:
    """Turn what the file system or the text's encoding refuses into a message."""
    try:
        yield
    except OSError as error:
        raise RegradeError(f"{name!r}: {error.strerror or error}") from error
    except ValueError as error:
        if "\0" in name:
            raise RegradeError(f"{name!r}: holds a null character, which no path can") from error
        raise RegradeError(f"{name!r}: cannot be a file of UTF-8 text: {error}") from error
