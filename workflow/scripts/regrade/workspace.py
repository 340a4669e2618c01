"""A trial's workspace: made from pristine inputs, written to, and frozen when all who wrote are dead."""

import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from regrade import digests
from regrade.errors import RegradeError

INSIDE = "/workspace"
"""Where every prompt and every sandbox says that the workspace is."""

_BAD_NAME = {errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ}


class Frozen(NamedTuple):
    """What a trial left: the digest of its workspace, and names of what is neither file nor link."""

    digest: str
    special_files: list[str]


def link_inputs(pristine: Path, workspace: Path) -> None:
    """Make a workspace of links to the pristine files, for harnesses that only ever add whole files."""
    _transfer(pristine, workspace, link_or_copy)


def copy_inputs(pristine: Path, workspace: Path) -> None:
    """Make a workspace of real copies, for harnesses that let code write in place."""
    _transfer(pristine, workspace, copy_file)


def _transfer(pristine: Path, workspace: Path, transfer: Callable[[Path, Path], None]) -> None:
    for folder, _, names in os.walk(pristine):
        inside = workspace / os.path.relpath(folder, pristine)
        make_folder(inside)
        for name in names:
            transfer(Path(folder, name), inside / name)


def make_folder(folder: Path) -> None:
    """Make a folder, or open an existing one, to everybody who may read: a sandbox runs as another user."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)


def copy_file(source: Path, target: Path) -> None:
    """A copy that its owner may write, executable if the source is."""
    shutil.copyfile(source, target)
    target.chmod(0o755 if _is_executable(source.stat()) else 0o644)


def link_or_copy(source: Path, target: Path) -> None:
    """A hard link, or a copy where the file system has no (more) links to give."""
    try:
        target.hardlink_to(source)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EEXIST):
            raise
        copy_file(source, target)


def _is_executable(about: os.stat_result) -> bool:
    return bool(about.st_mode & stat.S_IXUSR)


def write_into(workspace: Path, name: str, content: bytes) -> None:
    """Add or replace one file by a workspace-relative name, never through a link.

    Raises RegradeError for a name that is absolute, has `..`, runs into a file, link or folder, or is no name at all.
    """
    parts = Path(name).parts
    if not parts or Path(name).is_absolute() or ".." in parts or "\0" in name:
        raise RegradeError(f"{name!r}: is not a file name inside the workspace")
    try:
        _write(workspace, parts, content)
    except OSError as error:
        if error.errno not in _BAD_NAME:
            raise
        raise RegradeError(f"{name!r}: is not a file name: {error.strerror}") from error


def _write(workspace: Path, parts: tuple[str, ...], content: bytes) -> None:
    name, place = "/".join(parts), workspace
    for part in parts[:-1]:
        place = place / part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise RegradeError(f"{name!r}: {part!r} is not a folder")
        make_folder(place)
    place = place / parts[-1]
    if place.is_dir() and not place.is_symlink():
        raise RegradeError(f"{name!r}: is a folder")
    place.unlink(missing_ok=True)
    place.write_bytes(content)
    place.chmod(0o644)


def freeze(workspace: Path, pristine: Path, manifest: dict[str, Any]) -> Frozen:
    """Turn unchanged files into links to the pristine ones, and digest what a trial left.

    `manifest` is `files` of inputs.json: name -> {"sha256", ...}. Files must be readable (as write_into and the
    sandbox leave them). Special files (fifos, sockets) are taken out and named: no later stage can read them.
    """
    special: list[str] = []
    rows: list[list[Any]] = []
    spare = workspace.with_name(f"{workspace.name}.link")
    for name, entry in list(digests.walk(workspace)):
        place = Path(entry.path)
        if entry.is_symlink():
            rows.append([name, "link", os.readlink(entry.path)])
        elif entry.is_file(follow_symlinks=False):
            expected = manifest.get(name, {}).get("sha256")
            rows.append([name, *_settle(place, pristine / name, expected, spare)])
        else:
            place.unlink()
            special.append(os.fsencode(name).decode("utf-8", "backslashreplace"))
    return Frozen(digests.of_value(rows), special)


def work_digest(workspace: Path) -> str | None:
    """The digest that workspace.freeze gave what lies here, row for row; None for what cannot be read."""
    try:
        return digests.of_value([[name, *_row(entry)] for name, entry in digests.walk(workspace)])
    except OSError:
        return None


def _row(entry: os.DirEntry[str]) -> tuple[bool | str, str]:
    if entry.is_symlink():
        return "link", os.readlink(entry.path)
    if entry.is_file():
        return bool(entry.stat().st_mode & stat.S_IXUSR), digests.of_file(Path(entry.path))
    return "special", ""


def _settle(place: Path, pristine: Path, expected: str | None, spare: Path) -> tuple[bool, str]:
    """Give one file, if its bytes and its right to be run are the pristine ones, the pristine inode."""
    about = place.lstat()
    executable = _is_executable(about)
    if expected is None:
        return executable, digests.of_file(place)
    original = pristine.lstat()
    if os.path.samestat(about, original):
        return executable, expected
    digest = digests.of_file(place)
    if digest == expected and executable == _is_executable(original):
        spare.unlink(missing_ok=True)
        link_or_copy(pristine, spare)
        spare.replace(place)
    return executable, digest


def remove(folder: Path) -> None:
    """Remove a workspace whatever modes its files have; one that is not there is fine."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        # Locked folders, or a tree deeper than Python walks: opened one by one, as files may be the pristine ones.
        open_up = ["find", str(folder), "-type", "d", "-exec", "chmod", "u+rwx", "{}", ";"]
        subprocess.run(open_up, check=False, stderr=subprocess.DEVNULL)
        done = subprocess.run(["rm", "-rf", "--", folder], check=False, capture_output=True)
        if done.returncode:
            raise RegradeError(f"{folder}: cannot be removed: {done.stderr[-300:].decode(errors='replace')}") from None
