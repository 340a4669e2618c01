"""Reading a unified diff as git reads it: which files it names, and which lines belong to a hunk."""

import re
import stat
from dataclasses import dataclass, field
from typing import NamedTuple

from regrade.patches import NOT_CLEAN, RefusedError
from regrade.patches.names import NOWHERE, git_names, name_in

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_MOST_DIGITS = 9
_MODE = re.compile(r"(?:(?:new file|deleted file|old|new) mode|index \S+)\s+\+?([0-7]{1,12})(?:\s|$)")
_MOVED = re.compile(r"(?:rename|copy) (?:from|to) (.*)")
_STUB = re.compile(r"Binary files (.+) differ\s*$")
_MARKER = re.compile(r"(?:Binary file (?:added|deleted)|Binary files differ|Files? \w+, not shown): (.+)")


class Hunk(NamedTuple):
    """The four numbers of a hunk's header, and the lines that they count."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: list[str]

    @property
    def is_bare(self) -> bool:
        """Whether it has no context that says where it belongs."""
        return not any(line[:1] in ("", " ", "\r") for line in self.lines)

    @property
    def removed(self) -> list[str]:
        """The lines that it takes out."""
        return [line[1:] for line in self.lines if line.startswith("-")]


@dataclass
class Section:
    """What a diff says of one file. Names are decoded, prefixes still on; `moved` never has any."""

    lines: list[str] = field(default_factory=list)
    git: tuple[str, ...] = ()
    old: str | None = None
    new: str | None = None
    moved: list[str] = field(default_factory=list)
    kinds: set[int] = field(default_factory=set)
    hunks: list[Hunk] = field(default_factory=list)
    stray: bool = False
    """Whether lines that add or remove stand behind what the last hunk's header counts."""
    stub: bool = False
    """Whether it is a binary change without its bytes."""
    signed_off: bool = False

    @property
    def names(self) -> tuple[str | None, str | None]:
        """The file's name before and after; None where there is no such file."""
        old, new = (self.old, self.new) if self.old or self.new else (self.git or (None, None))
        return (None if old == NOWHERE else old), (None if new == NOWHERE else new)

    @property
    def written(self) -> list[str]:
        """Every name in its headers that may carry a prefix."""
        return [name for name in (*self.git, self.old, self.new) if name not in (None, NOWHERE)]


@dataclass
class Diff:
    """A whole diff. `left_out` names binary files that it mentions without holding their bytes."""

    sections: list[Section] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def kept(self) -> list[Section]:
        """The sections that can be applied."""
        return [section for section in self.sections if not section.stub]

    @property
    def text(self) -> str:
        """Those sections as a diff."""
        return "".join(f"{line}\n" for section in self.kept for line in section.lines)


def read(text: str) -> Diff:
    """Read a diff; names that no git would accept raise RefusedError."""
    lines, diff, at = text.removesuffix("\n").split("\n"), Diff(), 0
    while at < len(lines):
        at = _read_line(lines, at, diff)
    return diff


def _read_line(lines: list[str], at: int, diff: Diff) -> int:
    """Take one line outside of hunks, or one hunk whole; the number of the next line."""
    line, section = lines[at], diff.sections[-1] if diff.sections else Section()
    if line.startswith("diff --git "):
        diff.sections.append(Section([line], git=git_names(line.removeprefix("diff --git "))))
    elif line.startswith("--- ") and _is_header(lines, at, bool(section.hunks)):
        if not diff.sections or section.old is not None or section.hunks:
            diff.sections.append(section := Section())
        section.lines.append(line)
        section.old = name_in(line[4:])
    elif line.startswith("+++ ") and not section.hunks:
        if not diff.sections:
            diff.sections.append(section)
        section.lines.append(line)
        section.new = name_in(line[4:])
    elif diff.sections and (header := _HUNK.match(line)):
        return _read_hunk(lines, at, header, section)
    elif marker := _MARKER.match(line) or _STUB.match(line):
        section.stub = bool(section.git) and not section.hunks
        diff.left_out.append(marker[1].strip())
    elif diff.sections:
        section.lines.append(line)
        _note(line, section)
    return at + 1


def _is_header(lines: list[str], at: int, after_hunk: bool) -> bool:
    paired = at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
    return paired or not after_hunk


def _read_hunk(lines: list[str], at: int, header: "re.Match[str]", section: Section) -> int:
    if any(len(number or "") > _MOST_DIGITS for number in header.groups()):
        raise RefusedError(NOT_CLEAN)
    old_start, old, new_start, new = (1 if number is None else int(number) for number in header.groups())
    start, counted = at, (old_start, old, new_start, new)
    at += 1
    while at < len(lines) and (old > 0 or new > 0) and _is_body(lines, at):
        kind = lines[at][:1]
        old -= kind not in ("+", "\\")
        new -= kind not in ("-", "\\")
        at += 1
    section.hunks.append(Hunk(*counted, lines[start + 1 : at]))
    section.lines += lines[start:at]
    return at


def _is_body(lines: list[str], at: int) -> bool:
    """Whether a line can belong to a hunk; a header of the next file cannot, however the hunk was counted."""
    line = lines[at]
    if line.startswith("--- ") and at + 2 < len(lines):
        return not (lines[at + 1].startswith("+++ ") and lines[at + 2].startswith("@@ "))
    return line[:1] in " +-\\" or line == "\r"


def _note(line: str, section: Section) -> None:
    """Keep what a line between headers and hunks says."""
    if line.rstrip() == "--":
        section.signed_off = True
    elif section.hunks and line[:1] in ("+", "-") and not section.signed_off:
        section.stray = True
    elif mode := _MODE.match(line):
        section.kinds.add(stat.S_IFMT(int(mode[1], 8)))
    elif moved := _MOVED.match(line):
        section.moved.append(name_in(moved[1]))
