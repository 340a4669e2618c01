"""Fenced blocks in a model's text, read as Markdown writers mean them."""

import re
from typing import NamedTuple

_FENCE = re.compile(r"^ {0,3}(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^\n]*?)[ \t]*$")


class Block(NamedTuple):
    """One fenced block: the rest of its opening line, its lines, the text line before it, and whether it was closed."""

    info: str
    content: str
    before: str
    closed: bool


def blocks(text: str) -> list[Block]:
    """Top-level blocks. Inside a block a fence with a language opens a nested one, a bare fence closes one.

    A block never closed goes to the end of the text; an empty one there is a stray closing fence and none at all.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found, position = [], 0
    while position < len(lines):
        opening = _FENCE.match(lines[position])
        position += 1
        if not opening or "`" in opening["info"]:
            continue
        end, closed = _end(lines, position, opening["marks"])
        content = "\n".join(lines[position:end])
        before = next((line for line in reversed(lines[: position - 1][-2:]) if line.strip()), "")
        if closed or content.strip():
            found.append(Block(opening["info"], f"{content}\n" if content else "", before, closed))
        position = end + 1
    return found


def _end(lines: list[str], start: int, marks: str) -> tuple[int, bool]:
    """The index of the closing line, and whether there is one."""
    depth = 1
    for index in range(start, len(lines)):
        fence = _FENCE.match(lines[index])
        if not fence or fence["marks"][0] != marks[0] or len(fence["marks"]) < len(marks):
            continue
        depth += 1 if fence["info"] else -1
        if depth == 0:
            return index, True
    return (len(lines), False) if depth == 1 else _first_bare(lines, start, marks)


def _first_bare(lines: list[str], start: int, marks: str) -> tuple[int, bool]:
    """Nesting that does not come out even was no nesting: the first bare fence closes."""
    for index in range(start, len(lines)):
        bare = lines[index].strip()
        if len(bare) >= len(marks) and set(bare) == {marks[0]}:
            return index, True
    return len(lines), False


def without_stray_fence(text: str) -> str:
    """The text without lines that are only a bare fence."""
    return "\n".join(line for line in text.splitlines() if not re.fullmatch(r"\s*(`{3,}|~{3,})\s*", line))
