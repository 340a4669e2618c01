"""The Python code in an answer."""

import ast
import re
from typing import NamedTuple

_PYTHON = ("python", "py", "python3")
_OPENING = re.compile(r"(```+|~~~+)[ \t]*([^\n`]*)(?:\n|\Z)")
_STARTS = re.compile(r"^(?:(?:async\s+def|def|class|import|from)\b|@\w)", re.MULTILINE)
_MOST_LINES = 400


class Block(NamedTuple):
    """A fenced block: its label in lower case, and its code."""

    label: str
    code: str


def code_of(answer: str, last: bool = False) -> str:
    """The first block labelled as Python (or the last), else the first of any kind, else what looks like code.

    Line ends of any kind; a block ends at the first fence behind which its code is whole, so that a fence in a text
    inside it does not cut it.
    """
    text = answer.replace("\r\n", "\n")
    headless = _before_lone_fence(text)
    if headless:
        return headless
    blocks = _blocks(text)
    python = [block for block in blocks if block.label in _PYTHON]
    chosen = python or blocks
    if chosen:
        return chosen[-1 if last else 0].code
    start = _STARTS.search(text)
    return _without_prose(text[start.start() :]) if start else text


def _before_lone_fence(text: str) -> str:
    """The code of an answer whose opening fence was in the prompt: all before the one fence that closes it."""
    fences = re.findall(r"^[ \t]*```", text, re.MULTILINE)
    if len(fences) != 1:
        return ""
    before, _, behind = text.partition("```")
    return before if _STARTS.match(before.lstrip()) and not behind.strip() and _is_whole(before) else ""


def _blocks(text: str) -> list[Block]:
    found, position = [], 0
    while opening := _OPENING.search(text, position):
        fence, label = opening[1][:3], opening[2].strip()
        start = opening.end()
        if label and not re.fullmatch(r"[\w+#.-]+(?:\s+\S+=\S+)*", label):
            # Code on the line of the fence is code, not the name of a language.
            start, label = opening.start(2), ""
        end, position = _end(text, start, fence)
        found.append(Block(label.split()[0].lower() if label else "", text[start:end]))
    return found


def _end(text: str, start: int, fence: str) -> tuple[int, int]:
    """Where a block's code ends, and where the search goes on."""
    closings = [found.start() for found in re.finditer(re.escape(fence), text[start:])][:40]
    if not closings:
        return len(text), len(text)
    for closing in closings:
        if _is_whole(text[start : start + closing]):
            return start + closing, start + closing + len(fence)
    return start + closings[0], start + closings[0] + len(fence)


def _is_whole(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(code.strip())


def _without_prose(code: str) -> str:
    """Code without lines behind it that are none."""
    lines = code.split("\n")
    for count in range(len(lines), max(0, len(lines) - _MOST_LINES), -1):
        shorter = "\n".join(lines[:count])
        if _is_whole(shorter):
            return shorter
    return code
