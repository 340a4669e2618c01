"""What a grader sees: the pristine inputs, and around them what the trial left.

An input that the trial changed or deleted is back; the output artifact is the trial's, also where an input has
its place. Links that lead out of the workspace or cannot be followed, and what is neither file, folder nor link, are
left out.
"""

import errno
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MOST_LINKS = 40
LONGEST_PATH = 4000

_INSIDE = PurePosixPath("/workspace")

Transfer = Callable[[Path, Path], None]
"""How a file gets from one path to another."""


class UnfitError(Exception):
    """The artifact is no readable regular file of the workspace, or too large; the message says which."""


class MissingError(Exception):
    """There is no artifact."""


@dataclass(frozen=True)
class _Found:
    """The artifact: its file, and the name by which the workspace holds that file (another one behind a link)."""

    path: Path
    name: str


def build(pristine: Path, workspace: Path, artifact: str, view: Path, limit: int, transfer: Transfer) -> None:
    """Fill the new folder `view` by `transfer` (link_file, copy_file). `limit` is the artifact's size limit in bytes.

    Raises MissingError or UnfitError for the artifact, OSError when a folder is not there or the disk is full.
    """
    for folder in (pristine, workspace):
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: is not there, so nothing can be graded")
    found = _find(workspace, artifact, limit)
    _make_folder(view)
    _add(pristine, view, transfer, leave_out=artifact)
    leaving = [link for link in _add(workspace, view, transfer) if _resolve(view, link) is None]
    for link in leaving:
        (view / link).unlink()
    _place(found, artifact, view, pristine, transfer)


def _find(workspace: Path, artifact: str, limit: int) -> _Found:
    name = _resolve(workspace, artifact)
    if name is None:
        raise UnfitError(f"{artifact} is behind a link that leaves the workspace, or that leads in circles")
    path = workspace / name
    try:
        about = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise MissingError from None
    except OSError as error:
        raise UnfitError(f"{artifact} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(about.st_mode):
        raise UnfitError(f"{artifact} is {_kind(about.st_mode)}, expected a regular file")
    if about.st_size > limit:
        raise UnfitError(f"{artifact} has {about.st_size} bytes, expected at most {limit}")
    if not os.access(path, os.R_OK):
        raise UnfitError(f"{artifact} cannot be read: its mode is {stat.S_IMODE(about.st_mode):04o}")
    return _Found(path, name)


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _resolve(root: Path, name: str) -> str | None:
    """Where a name below `root` leads when links are followed as inside /workspace.

    None for out of it, and for a link that no system call can follow (a name too long, a locked folder). A name of
    something that does not exist leads to itself.
    """
    try:
        return _followed(root, name)
    except OSError:
        return None


def _followed(root: Path, name: str) -> str | None:
    waiting = list(reversed(PurePosixPath(name).parts))
    done: list[str] = []
    links = 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            if not done:
                return None
            done.pop()
            continue
        place = root.joinpath(*done, part)
        if not place.is_symlink():
            done.append(part)
            continue
        links += 1
        target = PurePosixPath(place.readlink())
        if target.is_absolute():  # it starts anew at the root, which is the workspace
            if not target.is_relative_to(_INSIDE):
                return None
            target, done = target.relative_to(_INSIDE), []
        if links > MOST_LINKS:
            return None
        waiting += reversed(target.parts)
    return "/".join(done)


def _add(source: Path, view: Path, transfer: Transfer, leave_out: str = "") -> list[str]:
    """Put all that is below a folder into the view unless its place is taken; the names of the links put there."""
    links = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        for entry in _entries(source / prefix):
            name = prefix + entry.name
            target = view / name
            if name == leave_out or not _can_be_named(entry.path, target):
                continue
            if entry.is_dir(follow_symlinks=False):
                if not os.path.lexists(target):
                    _make_folder(target)
                if target.is_dir() and not target.is_symlink():
                    waiting.append(f"{name}/")
            elif os.path.lexists(target):
                continue
            elif entry.is_symlink():
                if _link(target, _relative(Path(entry.path).readlink(), prefix)):
                    links.append(name)
            elif entry.is_file(follow_symlinks=False):
                transfer(Path(entry.path), target)
    return links


def _can_be_named(source: str, target: Path) -> bool:
    """Whether system calls take both paths, and the source can be reached at all."""
    longest = max(len(os.fsencode(path)) for path in (source, target))
    return longest <= LONGEST_PATH and os.path.lexists(source)


def _link(place: Path, target: Path) -> bool:
    """Make a link; False for a target that is too long for one."""
    try:
        place.symlink_to(target)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return False
    return True


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What a folder holds; one that its modes lock or that lies too deep holds nothing."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _make_folder(path: Path) -> None:
    path.mkdir()
    path.chmod(0o755)


def _relative(target: Path, prefix: str) -> Path:
    """A link's target that says /workspace, said from where the link stands."""
    if not target.is_relative_to(_INSIDE):
        return target
    return Path(os.path.relpath(target, _INSIDE / prefix))


def link_file(source: Path, target: Path) -> None:
    """A hard link where everybody can read the file, else a copy."""
    if source.lstat().st_mode & stat.S_IROTH:
        try:
            target.hardlink_to(source)
            return
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
    copy_file(source, target)


def copy_file(source: Path, target: Path) -> None:
    """A copy that everybody can read. A file that even we may not read is left out."""
    if os.access(source, os.R_OK):
        shutil.copyfile(source, target)
        target.chmod(0o755 if source.lstat().st_mode & stat.S_IXUSR else 0o644)


def _place(found: _Found, artifact: str, view: Path, pristine: Path, transfer: Transfer) -> None:
    """Make the artifact's name in the view lead to the artifact's own bytes, as a regular file."""
    is_own = found.name == artifact or not os.path.lexists(pristine / found.name)
    place = view / artifact
    if is_own and not place.is_symlink() and _resolve(view, artifact) == found.name and place.is_file():
        return
    folder = view
    for part in PurePosixPath(artifact).parts[:-1]:
        folder = folder / part
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink(missing_ok=True)
            _make_folder(folder)
    place.unlink(missing_ok=True)
    transfer(found.path, place)
