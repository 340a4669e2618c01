"""The sections of a Git patch, read in bytes and in one pass: which files it changes, and how many lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from regrade.formats.selfbench import javascript
from regrade.patches import RefusedError
from regrade.patches.names import NOWHERE, git_names, name_in, shown

START = b"diff --git "
_SECTION = re.compile(rb"^diff --git ", re.MULTILINE)
_BODY = re.compile(rb"^(?:@@ -|GIT binary patch\r?$)", re.MULTILINE)
_OLD = re.compile(rb"^--- (.*)$", re.MULTILINE)
_NEW = re.compile(rb"^\+\+\+ (.*)$", re.MULTILINE)
_MOVED = re.compile(rb"^(rename|copy) (from|to) (.*)$", re.MULTILINE)
_PLAIN_SECTION = re.compile(rb"^--- .*\n\+\+\+ .*\n@@ -", re.MULTILINE)
_HUNK = re.compile(rb"^@@ -\d+(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@.*$", re.MULTILINE)
_LONGEST = 40_000
"""No two names are longer, even with every byte of them escaped."""


@dataclass(frozen=True)
class Section:
    """What a patch says of one file; names are decoded and without their prefixes.

    `path` is the file's name afterwards, or of a deleted one the name that it had. `old` is its name before, None of
    a new one. `named` is every path in its headers, those first. `changed` counts the lines added and removed.
    """

    path: str
    old: str | None
    copied: bool
    named: tuple[str, ...]
    changed: int
    raw: bytes

    @property
    def touched(self) -> list[str]:
        """Every path that the section writes or removes: the new name first, then the one a file is moved from."""
        return [self.path] if self.copied or self.old in (None, self.path) else [self.path, str(self.old)]


@dataclass(frozen=True)
class _Names:
    """The names in a section's headers, with their prefixes but for `moved`."""

    git: tuple[str, ...]
    old: str | None
    new: str | None
    moved: dict[str, str]
    copied: bool

    @property
    def before(self) -> str | None:
        return self.old or (self.git[0] if len(self.git) == 2 else None)

    @property
    def after(self) -> str | None:
        return self.new or (self.git[1] if len(self.git) == 2 else None)

    @property
    def bare(self) -> bool:
        """Whether they carry no prefixes, as `git diff --no-prefix` writes them."""
        if self.moved:
            return (self.moved.get("from"), self.moved.get("to")) == self.git
        if len(self.git) == 2:
            return self.git[0] == self.git[1]
        known = [name for name in (self.old, self.new) if name and name != NOWHERE]
        return len(set(known)) == 1 and (len(known) == 2 or not known[0].startswith(("a/", "b/")))


def sections(patch: bytes) -> list[Section]:
    """The files that a patch changes, in its order. Headers that name no file make no section.

    Raises RefusedError for a name whose quoting is broken.
    """
    found = []
    for raw in _pieces(patch):
        names, headers = _names(raw)
        if section := _section(raw, names, headers):
            found.append(section)
    return found


def strip_level(patch: bytes) -> int:
    """What `git apply -p` needs: 0 for a patch without prefixes, else 1."""
    bare = [_names(raw)[0].bare for raw in _pieces(patch)]
    return 0 if bare and all(bare) else 1


def paths(patch: bytes) -> list[str]:
    """Every path that a patch writes or removes, once each, sorted by UTF-16 units."""
    return sorted({path for section in sections(patch) for path in section.touched}, key=javascript.order)


def changed_lines(patch: bytes) -> int:
    """How many lines begin with + or -, headers left out; also those in front of the first file."""
    start = _SECTION.search(patch)
    before = patch[: start.start()] if start else patch
    return _marked(before) + sum(_marked(raw) - _names(raw)[1] for raw in _pieces(patch))


def added(section: Section) -> Iterator[tuple[int, bytes]]:
    """The lines that a section adds, with their numbers in it from 0; its headers are none."""
    header = _NEW.search(_head(section.raw))
    at = section.raw.count(b"\n", 0, header.start()) if header else -1
    for number, line in enumerate(section.raw.split(b"\n")):
        if line.startswith(b"+") and number != at:
            yield number, line[1:]


def is_cut(patch: bytes) -> bool:
    """Whether the patch ends before the last of its hunks does."""
    last = None
    for raw in _pieces(patch):
        last = raw
    if last is None or b"\n@@ -" not in last:
        return False
    return not _is_full(last, last.rfind(b"\n@@ -") + 1, len(last))


def _section(raw: bytes, names: _Names, headers: int) -> Section | None:
    old = names.moved.get("from") or _name(names.before, names.bare)
    new = names.moved.get("to") or _name(names.after, names.bare)
    path = new or old
    if not path:
        return None
    every = [path, old, *(_name(name, names.bare) for name in reversed(names.git))]
    named = tuple(dict.fromkeys(name for name in every if name))
    return Section(path, old, names.copied, named, _marked(raw) - headers, raw)


def _name(name: str | None, bare: bool) -> str | None:
    """A header's name as that of a file; None where it names none."""
    if name is None or name == NOWHERE:
        return None
    return (name if bare else name.partition("/")[2]) or None


def _names(raw: bytes) -> tuple[_Names, int]:
    """The names in a section's headers, and how many of its headers begin with + or -."""
    head = _head(raw)
    git: tuple[str, ...] = ()
    first = head.partition(b"\n")[0]
    if first.startswith(START) and len(first) <= _LONGEST:
        git = _git_names(first)
    old, new = _OLD.search(head), _NEW.search(head)
    moves = _MOVED.findall(head)
    moved = {side.decode(): name_in(_text(name)) for _, side, name in moves}
    copied = any(kind == b"copy" for kind, _, _ in moves)
    named = _Names(git, _in_header(old), _in_header(new), moved, copied)
    return named, (old is not None) + (new is not None)


def _head(raw: bytes) -> bytes:
    """What stands before a section's first hunk or binary content."""
    body = _BODY.search(raw)
    return raw[: body.start()] if body else raw


def _git_names(line: bytes) -> tuple[str, ...]:
    try:
        return git_names(_text(line[len(START) :]))
    except RefusedError as error:
        raise RefusedError(f"{error} in {shown(_text(line))[:200]!r}") from error


def _in_header(found: "re.Match[bytes] | None") -> str | None:
    return name_in(_text(found[1])) if found and len(found[1]) <= _LONGEST else None


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _pieces(patch: bytes) -> Iterator[bytes]:
    """The patch cut before each file's headers; what stands before the first is left out."""
    starts = [found.start() for found in _SECTION.finditer(patch)]
    for start, end in pairwise([*starts, len(patch)]):
        yield from _without_git_headers(patch[start:end])


def _without_git_headers(raw: bytes) -> Iterator[bytes]:
    """A section cut where files begin that have no `diff --git` line, which git takes all the same."""
    begin = 0
    body = _BODY.search(raw)
    if body and raw.find(b"\n+++ ", body.start()) >= 0:
        for found in _PLAIN_SECTION.finditer(raw, body.start()):
            hunk = raw.rfind(b"\n@@ -", 0, found.start()) + 1
            if _is_full(raw, hunk, found.start()):
                yield raw[begin : found.start()]
                begin = found.start()
    yield raw[begin:]


def _is_full(raw: bytes, hunk: int, end: int) -> bool:
    """Whether the lines from a hunk's header up to `end` are at least those that it counts."""
    header = _HUNK.match(raw, hunk)
    if not header:
        return True
    body = raw[header.end() : end]
    old, new = (1 if count is None else int(count) for count in header.groups())
    added, removed = body.count(b"\n+"), body.count(b"\n-")
    lines = body.removesuffix(b"\n").count(b"\n")
    kept = lines - added - removed - body.count(b"\n\\")
    return kept + removed >= old and kept + added >= new


def _marked(raw: bytes) -> int:
    return raw.count(b"\n+") + raw.count(b"\n-") + raw.startswith((b"+", b"-"))
