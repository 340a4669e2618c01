"""The Python code in an answer."""

import ast
import re
import textwrap
from typing import NamedTuple

_PYTHON = re.compile(r"\{?\.?(?:python|py)[\d.]*(?=[\s,;:}{]|$)", re.IGNORECASE)
_LABEL = re.compile(r"[\w+#.-]*(?:\s+[\w-]+=\S+)*\s*")
_MARKS = r"[ \t]*(?:(?:[-*+>]|\d+[.)])[ \t]+)*"
_OPENING = re.compile(
    rf"(?:(?P<indent>^{_MARKS})|(?<=```)|(?<=~~~)|(?=(?:`{{3}}|~{{3}})[ \t]*(?:python|py)))"
    r"(?P<fence>`{3,16}|~{3,16})[ \t]*(?P<label>[^\n`]*)(?:\n|\Z)",
    re.MULTILINE | re.IGNORECASE,
)
_LONE = re.compile(rf"^{_MARKS}```[ \t]*$", re.MULTILINE)
_FENCES = re.compile(rf"^{_MARKS}```", re.MULTILINE)
_STARTS = re.compile(
    r"^(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[(:]|@\w"
    r"|import[ \t]+\w[\w., \t]*$|from[ \t]+[\w.]+[ \t]+import\b)",
    re.MULTILINE,
)

LONGEST = 100_000
"""Characters that are parsed at once to see where code ends; longer code ends at its first fence."""

BUDGET = 1_000_000
"""Characters of an answer that are parsed in all, about two seconds at most."""

_MOST_BLOCKS, _MOST_FENCES, _MOST_CUTS = 1000, 12, 40


class Block(NamedTuple):
    """A fenced block: whether it is labelled as Python, and its code."""

    is_python: bool
    code: str


def code_of(answer: str, last: bool = False) -> str:
    """The first block labelled as Python (or the last), else the first of any kind, else what looks like code.

    A block ends at the first fence that leaves its code whole, so that a fence in a text inside it does not cut it.
    """
    return _Reader(answer.replace("\r\n", "\n")).code(last)


class _Reader:
    """Reads one answer, and parses parts of it until its budget is used up."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = BUDGET

    def code(self, last: bool) -> str:
        headless = self._before_lone_fence()
        if headless:
            return headless
        blocks = self._blocks()
        chosen = [block for block in blocks if block.is_python] or blocks
        if chosen:
            return chosen[-1 if last else 0].code
        start = _STARTS.search(self._text)
        if start is None or self._is_whole(self._text):
            return self._text
        return self._without_prose(self._text[start.start() :])

    def _before_lone_fence(self) -> str:
        """The code of an answer whose opening fence stood in the prompt: all before the fence that closes it."""
        text = self._text
        first = _FENCES.search(text)
        if first is None or not _LONE.match(text, first.start()) or len(_FENCES.findall(text)) % 2 == 0:
            return ""
        before = text[: first.start()]
        return before if _STARTS.search(before) and self._is_whole(before) else ""

    def _blocks(self) -> list[Block]:
        found: list[Block] = []
        position = 0
        while len(found) < _MOST_BLOCKS and (opening := _OPENING.search(self._text, position)):
            is_python, start = _begin(opening)
            end, position = self._end(start, opening["fence"], is_python or not opening["label"].strip())
            code = self._text[start:end]
            found.append(Block(is_python, textwrap.dedent(code) if opening["indent"] else code))
        return found

    def _end(self, start: int, fence: str, may_be_python: bool) -> tuple[int, int]:
        """Where a block's code ends, and where the search goes on."""
        text = self._text
        anywhere = re.compile(re.escape(fence))
        usual = re.compile(rf"^{_MARKS}{re.escape(fence)}", re.MULTILINE).search(text, start)
        usual = usual or anywhere.search(text, start)
        if usual is None:
            return len(text), len(text)
        position = start
        for _ in range(_MOST_FENCES if may_be_python else 0):
            closing = anywhere.search(text, position)
            if closing is None or closing.start() - start > LONGEST:
                break
            if self._is_whole(textwrap.dedent(text[start : closing.start()])):
                return closing.start(), closing.end()
            position = closing.end()
        return usual.start(), usual.end()

    def _without_prose(self, code: str) -> str:
        """Code without what is none behind it."""
        lines = code.split("\n")
        for _ in range(_MOST_CUTS):
            fault = self._fault_line("\n".join(lines))
            if fault is None:
                return "\n".join(lines)
            lines = lines[: min(fault, len(lines)) - 1]
            if not lines:
                break
        return code

    def _is_whole(self, code: str) -> bool:
        return bool(code.strip()) and self._fault_line(code) is None

    def _fault_line(self, code: str) -> int | None:
        """The line that keeps a text from being Python code, as far as can be told; None if it is such code."""
        self._left -= len(code) + 100
        if len(code) > LONGEST or self._left < 0:
            return 1
        try:
            ast.parse(code)
        except SyntaxError as error:
            return error.lineno or 1
        except (ValueError, RecursionError, MemoryError):
            return 1
        return None


def _begin(opening: re.Match[str]) -> tuple[bool, int]:
    """Whether a fence is labelled as Python, and where the code behind it starts."""
    label = opening["label"]
    python = _PYTHON.match(label)
    behind = label[python.end() :] if python else label
    # Code on the line of the fence is code, not the name of a language.
    is_code = _STARTS.match(behind.lstrip()) if python else not _LABEL.fullmatch(label)
    return python is not None, opening.end("label") - len(behind.lstrip()) if is_code else opening.end()
