"""Fenced blocks in a model's text, read as Markdown writers mean them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>.*?)[ \t]*")
_BARE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*")


class Block(NamedTuple):
    """One fenced block: the rest of its opening line, its text, whether it was closed, and where it begins.

    `before` is the line of text above it, `line` the number of its opening line, from 0.
    """

    info: str
    content: str
    closed: bool
    before: str
    line: int


class _Fence(NamedTuple):
    indent: int
    marks: str
    info: str


def lines_of(text: str) -> list[str]:
    """A text's lines; CRLF ends a line as LF does, and nothing else does."""
    return text.replace("\r\n", "\n").split("\n")


def blocks(text: str) -> list[Block]:
    """Top-level blocks. Inside a block a fence with a language opens a nested one, a bare fence closes one.

    Fences indented further than a block's own are its content. A block never closed goes to the end of the text; an
    empty one there is a stray closing fence and none at all.
    """
    lines = lines_of(text)
    found, position = [], 0
    while position < len(lines):
        opening = _fence(lines[position])
        position += 1
        if not opening:
            continue
        end = _end(lines, position, opening)
        closed = end is not None
        body = [_dedented(line, opening.indent) for line in lines[position:end]]
        if closed or any(line.strip() for line in body):
            content = "\n".join(body).rstrip("\n" if not closed else "")
            above = lines[max(0, position - 3) : position - 1]
            before = next((line for line in reversed(above) if line.strip()), "")
            found.append(Block(opening.info, f"{content}\n" if body else "", closed, before, position - 1))
        position = len(lines) if end is None else end + 1
    return found


def _fence(line: str) -> _Fence | None:
    match = _FENCE.fullmatch(line)
    # A line such as ```x``` is code within a line, not a fence.
    if not match or (match["marks"][0] == "`" and "`" in match["info"]):
        return None
    return _Fence(len(match["indent"]), match["marks"], match["info"])


def _dedented(line: str, indent: int) -> str:
    margin = len(line) - len(line.lstrip(" \t"))
    return line[min(indent, margin) :]


def _end(lines: list[str], start: int, opening: _Fence) -> int | None:
    """The number of the line that closes a block, None if none does."""
    depth = 1
    for index, fence in _fences(lines, start, opening, opening.indent):
        depth += 1 if fence.info else -1
        if depth == 0:
            return index
    if depth == 1:
        # No bare fence is left over within the margin. One that is only indented further still closes.
        has_any = any(True for _ in _fences(lines, start, opening, opening.indent))
        return None if has_any else _first_bare(lines, start, opening, opening.indent + 3)
    return _first_bare(lines, start, opening, opening.indent)


def _fences(lines: list[str], start: int, opening: _Fence, margin: int) -> Iterator[tuple[int, _Fence]]:
    """The fences that may end or nest in a block: as long as its own, and indented no further than the margin."""
    for index in range(start, len(lines)):
        fence = _fence(lines[index])
        if fence and fence.indent <= margin and fence.marks.startswith(opening.marks):
            yield index, fence


def _first_bare(lines: list[str], start: int, opening: _Fence, margin: int) -> int | None:
    """Nesting that does not come out even was no nesting: the first bare fence closes."""
    return next((index for index, fence in _fences(lines, start, opening, margin) if not fence.info), None)


def without_bare_fences(lines: list[str]) -> list[str]:
    """The lines but those that are only a bare fence."""
    return [line for line in lines if not _BARE.fullmatch(line)]
