"""The leak lint: a grader's detail must not print what the right answer is.

It reads grader/hidden.py without running it, and there every call of something named GradeResult: the third argument
or `detail=`. In an f-string a value is a leak if the 30 characters of text just before it hold a word such as
`expected`, unless only the name of a type is shown. In a plain text, such a word close before a place for a value
is one. What is put together elsewhere, in variables or calls, is not seen.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_WORDS = r"\b(?:expected|optimal|truth|reference|want|ref)\b"
_BEFORE_VALUE = re.compile(_WORDS, re.IGNORECASE)
_PLACEHOLDER = re.compile(_WORDS + r"[^A-Za-z]{0,4}(?:\{|%[sdrf])", re.IGNORECASE)
_REACH = 30
_TYPE_NAMES = {"__name__", "__qualname__"}


class Leak(NamedTuple):
    """A line of a grader and the text in it that may tell the answer."""

    line: int
    text: str


def find(source: str) -> list[Leak]:
    """Every leak in a grader's source, in the order of its lines. Raises SyntaxError, ValueError."""
    details = [detail for call in ast.walk(ast.parse(source)) for detail in _details(call)]
    return sorted(leak for detail in details for leak in _leaks(detail))


def check(grader: Path) -> list[Leak]:
    """The leaks in a file. Raises SyntaxError, ValueError (no Python, not UTF-8), OSError."""
    return find(grader.read_bytes().decode("utf-8"))


def _details(node: ast.AST) -> Iterator[ast.expr]:
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name != "GradeResult":
        return
    yield from node.args[2:3]
    yield from (keyword.value for keyword in node.keywords if keyword.arg == "detail")


def _leaks(detail: ast.expr) -> Iterator[Leak]:
    if isinstance(detail, ast.JoinedStr):
        yield from _in_f_string(detail)
    elif isinstance(detail, ast.Constant) and isinstance(detail.value, str):
        if found := _PLACEHOLDER.search(detail.value):
            yield Leak(detail.lineno, found.group())
    elif isinstance(detail, ast.BinOp):
        yield from _leaks(detail.left)
        yield from _leaks(detail.right)
    elif isinstance(detail, ast.IfExp):
        yield from _leaks(detail.body)
        yield from _leaks(detail.orelse)
    elif isinstance(detail, ast.Call) and isinstance(detail.func, ast.Attribute) and detail.func.attr == "format":
        yield from _leaks(detail.func.value)


def _in_f_string(text: ast.JoinedStr) -> Iterator[Leak]:
    before = ""
    for part in text.values:
        if isinstance(part, ast.Constant):
            before = str(part.value)
            continue
        assert isinstance(part, ast.FormattedValue)
        if _BEFORE_VALUE.search(before[-_REACH:]) and not _shows_a_type(part.value):
            yield Leak(part.lineno, f"{before[-_REACH:]}{{{ast.unparse(part.value)}}}")
        before = ""


def _shows_a_type(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr in _TYPE_NAMES for node in ast.walk(value))
