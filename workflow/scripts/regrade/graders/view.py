"""What a grader sees: the pristine inputs, and around them what the trial left.

An input that the trial changed or deleted is back; the output artifact is the trial's, also where an input has
its place. Links that lead out of the workspace, and what is neither file, folder nor link, are left out.
"""

import errno
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

MOST_LINKS = 40
LONGEST_PATH = 4000
_INSIDE = "/workspace"


class Unfit(Exception):
    """The artifact is no readable regular file of the workspace, or too large; the message says which."""


class Missing(Exception):
    """There is no artifact."""


@dataclass(frozen=True)
class _Found:
    """The artifact: its file, and the name by which the workspace holds that file (another one behind a link)."""

    path: Path
    name: str


def build(pristine: Path, workspace: Path, artifact: str, view: Path, limit: int) -> None:
    """Fill the new folder `view`. `limit` is the artifact's largest size in bytes.

    Raises Missing or Unfit for the artifact, OSError when the disk is full.
    """
    found = _find(workspace, artifact, limit)
    _make_folder(str(view))
    _add(pristine, view, leave_out=artifact)
    for link in _add(workspace, view):
        if _resolve(view, link) is None:
            (view / link).unlink()
    _place(found, artifact, view, pristine)


def _find(workspace: Path, artifact: str, limit: int) -> _Found:
    name = _resolve(workspace, artifact)
    if name is None:
        raise Unfit(f"{artifact} is behind a link that leaves the workspace, or that leads in circles")
    path = workspace / name
    try:
        about = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise Missing from None
    except OSError as error:
        raise Unfit(f"{artifact} cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(about.st_mode):
        raise Unfit(f"{artifact} is {_kind(about.st_mode)}, expected a regular file")
    if about.st_size > limit:
        raise Unfit(f"{artifact} has {about.st_size} bytes, expected at most {limit}")
    if not os.access(path, os.R_OK):
        raise Unfit(f"{artifact} cannot be read: its mode is {stat.S_IMODE(about.st_mode):04o}")
    return _Found(path, name)


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _resolve(root: Path, name: str) -> str | None:
    """Where a name below `root` leads when links are followed as inside /workspace; None for out of it.

    A name of something that does not exist leads to itself.
    """
    waiting = [part for part in reversed(name.split("/")) if part not in ("", ".")]
    done: list[str] = []
    links = 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            if not done:
                return None
            done.pop()
            continue
        place = "/".join([str(root), *done, part])
        if not os.path.islink(place):
            done.append(part)
            continue
        links += 1
        target = os.readlink(place)
        if target.startswith("/"):  # an absolute one starts anew at the root, which is the workspace
            if target != _INSIDE and not target.startswith(f"{_INSIDE}/"):
                return None
            target, done = target[len(_INSIDE) :], []
        if links > MOST_LINKS:
            return None
        waiting += [part for part in reversed(target.split("/")) if part not in ("", ".")]
    return "/".join(done)


def _add(source: Path, view: Path, leave_out: str = "") -> list[str]:
    """Put everything below a folder into the view unless its place is taken; give back the names of links put there."""
    links = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        for entry in _entries(f"{source}/{prefix}"):
            name = prefix + entry.name
            target = f"{view}/{name}"
            if name == leave_out or len(os.fsencode(target)) > LONGEST_PATH:
                continue
            if entry.is_dir(follow_symlinks=False):
                if not os.path.lexists(target):
                    _make_folder(target)
                if not os.path.islink(target) and os.path.isdir(target):
                    waiting.append(f"{name}/")
            elif os.path.lexists(target):
                continue
            elif entry.is_symlink():
                os.symlink(_relative(os.readlink(entry.path), prefix), target)
                links.append(name)
            elif entry.is_file(follow_symlinks=False):
                transfer(entry.path, target)
    return links


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What a folder holds; one that its modes lock or that lies too deep holds nothing."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _make_folder(path: str) -> None:
    os.mkdir(path)
    os.chmod(path, 0o755)


def _relative(target: str, prefix: str) -> str:
    """A link's target that says /workspace, said from where the link stands."""
    if target != _INSIDE and not target.startswith(f"{_INSIDE}/"):
        return target
    return os.path.relpath(f"/{target[len(_INSIDE) :]}", f"/{prefix}")


def transfer(source: str, target: str) -> None:
    """A hard link where everybody can read the file, else a copy. One that even we may not read is left out."""
    about = os.lstat(source)
    if about.st_mode & stat.S_IROTH:
        try:
            os.link(source, target)
            return
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise
    if os.access(source, os.R_OK):
        shutil.copyfile(source, target)
        os.chmod(target, 0o755 if about.st_mode & stat.S_IXUSR else 0o644)


def _place(found: _Found, artifact: str, view: Path, pristine: Path) -> None:
    """Make the artifact's name in the view lead to the artifact's own bytes, as a regular file."""
    is_own = found.name == artifact or not os.path.lexists(pristine / found.name)
    place = view / artifact
    if is_own and not place.is_symlink() and _resolve(view, artifact) == found.name and place.is_file():
        return
    folder = view
    for part in artifact.split("/")[:-1]:
        folder = folder / part
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink(missing_ok=True)
            _make_folder(str(folder))
    place.unlink(missing_ok=True)
    transfer(str(found.path), str(place))
