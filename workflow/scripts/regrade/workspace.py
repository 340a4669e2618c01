"""A trial's workspace: made from pristine inputs, written to, and frozen when all who wrote are dead."""

import os
import shutil
import stat
from pathlib import Path
from typing import Any, NamedTuple

from regrade import digests
from regrade.errors import RegradeError

INSIDE = "/workspace"
"""Where every prompt and every sandbox says that the workspace is."""


class Frozen(NamedTuple):
    """What a trial left: the digest of its workspace, and names of what is neither file nor link."""

    digest: str
    special_files: list[str]


def link_inputs(pristine: Path, workspace: Path) -> None:
    """Make a workspace of links to the pristine files, for harnesses that only ever add whole files."""
    _transfer(pristine, workspace, os.link)


def copy_inputs(pristine: Path, workspace: Path) -> None:
    """Make a workspace of real copies, for harnesses that let code write in place."""
    _transfer(pristine, workspace, shutil.copyfile)


def _transfer(pristine: Path, workspace: Path, transfer: Any) -> None:
    for folder, subfolders, names in os.walk(pristine):
        inside = workspace / os.path.relpath(folder, pristine)
        inside.mkdir(parents=True, exist_ok=True)
        for name in names:
            transfer(os.path.join(folder, name), inside / name)


def write_into(workspace: Path, name: str, content: bytes) -> None:
    """Add or replace one file by a workspace-relative name, never through a link.

    Raises RegradeError for a name that is absolute, has `..`, or runs into a file or link.
    """
    parts = Path(name).parts
    if not parts or Path(name).is_absolute() or ".." in parts or "\0" in name:
        raise RegradeError(f"{name!r}: is not a file name inside the workspace")
    place = workspace
    for part in parts[:-1]:
        place = place / part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise RegradeError(f"{name!r}: {part!r} is not a folder")
        place.mkdir(exist_ok=True)
    place = place / parts[-1]
    if place.is_dir() and not place.is_symlink():
        raise RegradeError(f"{name!r}: is a folder")
    place.unlink(missing_ok=True)
    place.write_bytes(content)


def freeze(workspace: Path, pristine: Path, manifest: dict[str, Any]) -> Frozen:
    """Normalise modes, turn unchanged files into links to the pristine ones, and digest the rest.

    `manifest` is `files` of inputs.json: name -> {"sha256", ...}. Special files (fifos, sockets) are taken out
    and named, since no later stage can read them.
    """
    special, rows = [], []
    for name, entry in list(digests.walk(workspace)):
        place = Path(entry.path)
        if entry.is_symlink():
            rows.append([name, "link", os.fsencode(os.readlink(place)).decode("utf-8", "backslashreplace")])
        elif not entry.is_file(follow_symlinks=False):
            place.unlink()
            special.append(name)
        else:
            rows.append([name, *_settle(place, pristine / name, manifest.get(name, {}).get("sha256"))])
    for folder, subfolders, _ in os.walk(workspace):
        for subfolder in subfolders:
            place = Path(folder, subfolder)
            if not place.is_symlink():
                place.chmod(0o755)
    workspace.chmod(0o755)
    printable = [[_printable(name), *rest] for name, *rest in rows]
    return Frozen(digests.of_value(printable), [_printable(name) for name in special])


def _printable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _settle(place: Path, pristine: Path, expected: str | None) -> tuple[bool, str]:
    """Give one file a readable mode and, if its bytes are the pristine ones, the pristine inode."""
    about = place.lstat()
    executable = bool(about.st_mode & stat.S_IXUSR)
    if expected and about.st_ino == pristine.lstat().st_ino:
        return executable, expected
    place.chmod(0o755 if executable else 0o644)
    digest = digests.of_file(place)
    if digest == expected and not executable:
        temporary = place.with_name(f".{digest[:16]}.link")
        os.link(pristine, temporary)
        os.replace(temporary, place)
    return executable, digest


def remove(folder: Path) -> None:
    """Remove a workspace whatever modes its files have; one that is not there is fine."""
    if folder.is_symlink() or not folder.exists():
        folder.unlink(missing_ok=True)
        return
    for place, subfolders, _ in os.walk(folder):
        for subfolder in subfolders:
            path = Path(place, subfolder)
            if not path.is_symlink():
                path.chmod(0o755)
    shutil.rmtree(folder)
