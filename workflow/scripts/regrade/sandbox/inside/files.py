"""How much the files below the writable mounts occupy, counted in small steps."""

import os
import stat
from collections.abc import Iterator

MAX_DEPTH = 64
MAX_PATH_BYTES = 1024
"""Folders nested deeper, or under longer paths, are more than anybody's program could walk."""

_ENTRY_BYTES = 1024
"""What an entry costs beside its blocks, so that empty files count too."""


class TooDeepError(Exception):
    """A folder that nobody could walk."""


def is_too_deep(relative: str, depth: int) -> bool:
    """Whether a folder at this path below a mount is beyond what may be walked."""
    return depth > MAX_DEPTH or len(os.fsencode(relative)) > MAX_PATH_BYTES


def sizes(folders: list[str], apart: frozenset[str]) -> Iterator[int]:
    """Bytes on disk, a piece at a time: of all entries, then of files without a name that are still open.

    Folders at the paths `apart` are not entered. Raises TooDeepError.
    """
    devices = {os.stat(folder).st_dev for folder in folders}
    for folder in folders:
        yield from _folder_sizes(folder, apart)
    yield from _unnamed_sizes(devices)


def _folder_sizes(folder: str, apart: frozenset[str]) -> Iterator[int]:
    yield os.stat(folder).st_blocks * 512
    waiting = [(folder, 0)]
    while waiting:
        path, depth = waiting.pop()
        if is_too_deep(path[len(folder) :], depth):
            raise TooDeepError
        for entry in _entries(path):
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode) and entry.path not in apart:
                waiting.append((entry.path, depth + 1))
            yield status.st_blocks * 512 + _ENTRY_BYTES


def _entries(path: str) -> Iterator["os.DirEntry[str]"]:
    """What a folder holds; one made unreadable is made readable again, so that nothing hides in it."""
    try:
        try:
            found = os.scandir(path)
        except PermissionError:
            os.chmod(path, 0o700)
            found = os.scandir(path)
        with found:
            yield from found
    except OSError:
        return


def _unnamed_sizes(devices: set[int]) -> Iterator[int]:
    counted = set()
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or pid == "1":
            continue
        try:
            descriptors = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                status = os.stat(f"/proc/{pid}/fd/{descriptor}")
            except OSError:
                continue
            if status.st_nlink == 0 and status.st_dev in devices and status.st_ino not in counted:
                counted.add(status.st_ino)
                yield status.st_blocks * 512
