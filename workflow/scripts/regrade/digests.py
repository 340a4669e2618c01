"""SHA-256 digests of values, files and folders: what decides whether something runs again."""

import functools
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from regrade.files import to_json

PACKAGE = Path(__file__).parent
"""The library's own folder."""

_NOT_CONTENT = {"__pycache__", ".DS_Store"}


def of_bytes(content: bytes) -> str:
    """The hex digest of bytes."""
    return hashlib.sha256(content).hexdigest()


def of_value(value: Any) -> str:
    """The hex digest of a JSON value, independent of key order."""
    return of_bytes(to_json(value).encode())


def of_file(path: Path) -> str:
    """The hex digest of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def walk(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Every entry below a folder but directories, as (posix path, entry), sorted; links are not followed."""
    yield from sorted(_walk(folder, ""), key=lambda found: found[0])


def _walk(folder: Path | str, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry


def of_folder(folder: Path, leave_out: Iterable[str] = ()) -> str:
    """The digest of a folder's names, executable bits, link targets and bytes.

    Python's caches do not count, nor do files and folders of the names in `leave_out`.
    """
    rows: list[list[Any]] = []
    not_content = _NOT_CONTENT.union(leave_out)
    for name, entry in walk(folder):
        if not_content.intersection(name.split("/")):
            continue
        if entry.is_symlink():
            rows.append([name, "link", os.readlink(entry.path)])
        elif entry.is_file():
            executable = bool(entry.stat().st_mode & stat.S_IXUSR)
            rows.append([name, executable, of_file(Path(entry.path))])
        else:
            rows.append([name, "special", ""])
    return of_value(rows)


@functools.cache
def of_code(*parts: str) -> str:
    """The digest of parts of this library (module files or folders, relative to the package)."""
    rows = []
    for part in parts:
        path = PACKAGE / part
        rows.append([part, of_folder(path) if path.is_dir() else of_file(path)])
    return of_value(rows)
