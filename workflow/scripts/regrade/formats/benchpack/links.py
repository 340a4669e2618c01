"""What in a repository fixture cannot be copied into a workspace that nothing leads out of."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from regrade import digests, files


def audit(root: Path, leave_out: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """(name, why) of every link that leaves a folder and of everything that is no file, folder or link.

    Linked folders are not searched; a link to nothing inside the folder is allowed. What bears a name of `leave_out`
    is not looked at.
    """
    real = root.resolve()
    for name, entry in digests.walk(root):
        if not set(leave_out).isdisjoint(name.split("/")):
            continue
        if entry.is_symlink():
            why = _fault_of_link(Path(entry.path), real)
            if why:
                yield name, why
        elif not entry.is_file(follow_symlinks=False):
            yield name, "is neither a file, a folder nor a link"


def _fault_of_link(path: Path, root: Path) -> str | None:
    target = str(path.readlink())
    if target.startswith("/"):
        return f"is a link to {target!r}, expected a relative one"
    try:
        inside = files.followed(path).is_relative_to(root)
    except OSError:
        return f"is a link to {target!r}, which goes in circles"
    return None if inside else f"is a link to {target!r}, which leaves the folder"


def by_own_name(root: Path) -> Iterator[tuple[str, str]]:
    """(name, target) of the links that come back in by the folder's own name, which a copy does not have."""
    for name, entry in digests.walk(root):
        if entry.is_symlink():
            target = os.readlink(entry.path)
            spelt = os.path.normpath(f"{os.path.dirname(name) or '.'}/{target}")
            if spelt.split("/")[0] == "..":
                yield name, target
