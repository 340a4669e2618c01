"""The difference between two folders: evidence of what a trial changed, to read and never to apply again."""

import codecs
import os
from dataclasses import dataclass
from pathlib import Path

from regrade import digests
from regrade.patches.lines import Steps, hunks

LARGEST_FILE = 4 << 20
LARGEST_IN_ALL = 32 << 20
"""Bytes of text, before and after together, whose changes are shown; what is larger gets a line that names it."""

_STEPS = 5_000_000
_PIECE = 1 << 20
_NOWHERE = b"/dev/null"
_DECODER = codecs.getincrementaldecoder("utf-8")


@dataclass
class _Room:
    """What is left of the bounds on size and on time."""

    bytes_left: int
    steps: Steps


def capture(source: Path, workspace: Path) -> bytes:
    """What turns `source` into `workspace`, as unified diffs in the order of the paths; nothing is ignored.

    Text is UTF-8 with its line ends made LF; a link is its target as text; binary files and text beyond the bounds
    are one line each. Empty folders, modes, final line ends and special files do not show.
    """
    before, after = _entries(source), _entries(workspace)
    room, parts = _Room(LARGEST_IN_ALL, Steps(_STEPS)), []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old and new and old.is_symlink() != new.is_symlink():
            parts += [_change(name, old, None, room), _change(name, None, new, room)]
        elif not (old and new and _same(old, new)):
            parts.append(_change(name, old, new, room))
    return b"".join(parts)


def _entries(folder: Path) -> dict[str, "os.DirEntry[str]"]:
    found = digests.walk(folder)
    return {name: entry for name, entry in found if entry.is_symlink() or entry.is_file(follow_symlinks=False)}


def _same(old: "os.DirEntry[str]", new: "os.DirEntry[str]") -> bool:
    """Whether two entries of one kind have the same bytes."""
    if old.is_symlink():
        return os.readlink(old.path) == os.readlink(new.path)
    about, other = old.stat(follow_symlinks=False), new.stat(follow_symlinks=False)
    if os.path.samestat(about, other):
        return True
    if about.st_size != other.st_size:
        return False
    with open(old.path, "rb") as first, open(new.path, "rb") as second:
        while piece := first.read(_PIECE):
            if piece != second.read(_PIECE):
                return False
    return True


def _change(name: str, old: "os.DirEntry[str] | None", new: "os.DirEntry[str] | None", room: _Room) -> bytes:
    """The part of the diff for one path; one side may be missing."""
    path = os.fsencode(name).replace(b"\r", b"\\r").replace(b"\n", b"\\n")
    sides = [side for side in (old, new) if side]
    if not all(map(_is_text, sides)):
        what = b"files differ" if old and new else b"file deleted" if old else b"file added"
        return b"Binary %s: %s\n" % (what, path)
    size = sum(side.stat(follow_symlinks=False).st_size for side in sides)
    if size > min(LARGEST_FILE, room.bytes_left):
        what = b"Files differ" if old and new else b"File deleted" if old else b"File added"
        return b"%s, not shown: %s\n" % (what, path)
    room.bytes_left -= size
    shown = hunks(_lines(old), _lines(new), room.steps)
    if old and new and not shown:
        return b""
    headers = [b"--- " + (b"a/" + path if old else _NOWHERE), b"+++ " + (b"b/" + path if new else _NOWHERE)]
    return b"".join(line + b"\n" for line in headers + shown)


def _is_text(entry: "os.DirEntry[str]") -> bool:
    decoder = _DECODER()
    try:
        if entry.is_symlink():
            decoder.decode(os.fsencode(os.readlink(entry.path)), final=True)
            return True
        with open(entry.path, "rb") as stream:
            while piece := stream.read(_PIECE):
                decoder.decode(piece)
        decoder.decode(b"", final=True)
        return True
    except UnicodeDecodeError:
        return False


def _lines(entry: "os.DirEntry[str] | None") -> list[bytes]:
    """A file's lines, or a link's target, without line ends."""
    if entry is None:
        return []
    link = entry.is_symlink()
    content = os.fsencode(os.readlink(entry.path)) if link else Path(entry.path).read_bytes()
    content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content.removesuffix(b"\n").split(b"\n") if content else []
