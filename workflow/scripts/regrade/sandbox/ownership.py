"""Handing a folder to the user that a sandbox runs as, and back, with modes that anybody can work with."""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from regrade.sandbox.inside.files import is_too_deep


def hand_over(folder: Path, uid: int) -> None:
    """Give a file or a folder with everything in it to a user. Links are neither changed nor followed."""
    for path, status in _entries(folder):
        _settle(path, status, uid, uid)


def take_back(folder: Path) -> None:
    """Make everything the caller's again: files 0644 or 0755, folders 0755; one nested too deep to walk is removed."""
    for path, status in _entries(folder):
        _settle(path, status, os.geteuid(), os.getegid())


def _settle(path: str, status: os.stat_result, uid: int, gid: int) -> None:
    if (status.st_uid, status.st_gid) != (uid, gid) and os.geteuid() == 0:
        os.chown(path, uid, gid, follow_symlinks=False)
    is_open = stat.S_ISDIR(status.st_mode) or status.st_mode & 0o111
    mode = 0o755 if is_open else 0o644
    if stat.S_IMODE(status.st_mode) != mode:
        os.chmod(path, mode)


def _entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Everything but links, a folder before what it holds (so that it can be made readable first)."""
    yield str(folder), os.stat(folder)
    waiting = [(str(folder), 0)] if folder.is_dir() else []
    while waiting:
        path, depth = waiting.pop()
        if is_too_deep(path[len(str(folder)) :], depth):
            subprocess.run(["rm", "-rf", "--", path], check=True)
            continue
        for entry in list(os.scandir(path)):
            if entry.is_symlink():
                continue
            yield entry.path, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, depth + 1))
