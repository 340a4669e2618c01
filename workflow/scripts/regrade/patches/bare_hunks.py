"""Hunks without context, which git places by its own rules: a pure insertion goes to the file's end, wherever meant."""

import os
from pathlib import Path

from regrade.patches import NOT_CLEAN, RefusedError
from regrade.patches.strip import without_prefix
from regrade.patches.unified import Section


def need_no_context(sections: list[Section], workspace: Path) -> bool:
    """Whether an existing file is changed by a hunk without context.

    Raises RefusedError if the place of one is not certain: its header's, or the only one where its removed lines stand.
    """
    found = False
    for section in sections:
        lines = _lines_before(section, workspace)
        if lines is not None and any(hunk.is_bare for hunk in section.hunks):
            found = True
            if not _all_certain(section, lines):
                raise RefusedError(NOT_CLEAN)
    return found


def _lines_before(section: Section, workspace: Path) -> list[bytes] | None:
    if None in section.names:
        return None
    place = workspace / without_prefix(section, workspace, section.names[0] or "")
    if os.path.islink(place):
        return [os.fsencode(os.readlink(place))]
    return place.read_bytes().removesuffix(b"\n").split(b"\n") if os.path.isfile(place) else None


def _all_certain(section: Section, lines: list[bytes]) -> bool:
    moved = 0
    for hunk in section.hunks:
        gone = [line.encode("utf-8", "surrogateescape") for line in hunk.removed]
        # An insertion stands behind the line that its header names, a removal starts at it.
        start = hunk.old_start - (1 if gone else 0)
        agrees = hunk.new_start == hunk.old_start + moved + (not hunk.old_count) - (not hunk.new_count)
        in_place = agrees and 0 <= start <= len(lines) and lines[start : start + len(gone)] == gone
        in_place = in_place and bool(gone) == bool(hunk.old_count)
        if hunk.is_bare and not in_place and _count(lines, gone) != 1:
            return False
        moved += hunk.new_count - hunk.old_count
    return True


def _count(lines: list[bytes], wanted: list[bytes]) -> int:
    """How often the wanted lines stand in a file; nothing stands everywhere."""
    if not wanted:
        return 0
    firsts = (at for at, line in enumerate(lines) if line == wanted[0])
    return sum(lines[at : at + len(wanted)] == wanted for at in firsts)
