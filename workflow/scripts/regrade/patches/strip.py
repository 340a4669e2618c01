"""How many leading folders of a diff's names are no part of the file's name: one (`a/`, `b/`) or none."""

import os
from pathlib import Path

from regrade.patches import NOT_CLEAN, RefusedError
from regrade.patches.unified import Section


def level_of(sections: list[Section], workspace: Path) -> int:
    """What git's -p is to be. Raises RefusedError where a diff mixes both ways: git strips all names alike."""
    whole = [section for section in sections if section.git or section.hunks or None not in (section.old, section.new)]
    levels = {_level(section, workspace) for section in whole}
    if len(levels) != 1:
        raise RefusedError(NOT_CLEAN)
    return levels.pop()


def paths_of(section: Section, workspace: Path) -> list[str]:
    """Every path that a section names, as it is meant inside the workspace."""
    return list(
        dict.fromkeys([*(without_prefix(section, workspace, name) for name in section.written), *section.moved])
    )


def without_prefix(section: Section, workspace: Path, name: str) -> str:
    """A name in a section's headers without its prefix."""
    return name.partition("/")[2] if "/" in name and _level(section, workspace) else name


def _level(section: Section, workspace: Path) -> int:
    old, new = section.names
    if old is None or new is None:
        prefixed = (old or new or "").startswith(("a/", "b/"))
        return int(prefixed and not (old and _is_file(workspace, old)))
    if old == new:
        return int(old.startswith(("a/", "b/")) and not _is_file(workspace, old))
    if old.startswith("a/") and new.startswith("b/"):
        return 1
    return int(old.partition("/")[2] == new.partition("/")[2] != "")


def _is_file(workspace: Path, name: str) -> bool:
    return "\0" not in name and os.path.isfile(workspace / name)
