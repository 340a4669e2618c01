"""What a patch may touch: paths in the workspace and outside of `.git`, and no links or submodules that lead out."""

import os
import stat
from pathlib import Path, PurePosixPath

from regrade import workspace_files
from regrade.patches import RefusedError
from regrade.patches.names import shown
from regrade.patches.strip import paths_of
from regrade.patches.unified import Section

_SUBMODULE = 0o160000


def check_path(workspace: Path, name: str) -> Path:
    """The place of a path, all links followed. Raises RefusedError if a patch may not touch it."""
    if "\0" in name:
        raise RefusedError("path contains a null byte")
    place = workspace_files.resolve(workspace, name)
    if place is None:
        raise RefusedError(f"path escapes workspace: {shown(name)}")
    if ".git" in (part.lower() for part in (*PurePosixPath(name).parts, *place.relative_to(_root(workspace)).parts)):
        raise RefusedError(f"path is inside .git: {shown(name)}")
    return place


def check_section(workspace: Path, section: Section) -> None:
    """Check all that one file's part of a diff names, and where a link that it makes leads to."""
    for name in paths_of(section, workspace):
        check_path(workspace, name)
        if _SUBMODULE in section.kinds:
            raise RefusedError(f"path is a submodule: {shown(name)}")
        if stat.S_IFLNK in section.kinds or os.path.islink(workspace / name):
            _check_link(workspace, section, name)


def _check_link(workspace: Path, section: Section, name: str) -> None:
    # Also lines behind a hunk's counted end: git may count anew.
    for line in (line for line in section.lines if line.startswith("+")):
        target = line[1:].rstrip("\r")
        meant = os.path.normpath(os.path.join(os.path.dirname(name), target))
        if os.path.isabs(target) or workspace_files.resolve(workspace, meant) is None:
            raise RefusedError(f"path escapes workspace: {shown(name)}")


def _root(workspace: Path) -> str:
    return os.path.realpath(workspace)
