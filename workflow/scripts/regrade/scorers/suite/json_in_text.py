"""JSON values in a text that a model wrote: the whole of it, behind a fence, or in the middle of prose."""

import collections
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

DEEPEST = 100
"""Levels of a value that is still read: what walks through values may recurse."""

LONGEST_INTEGER = 4000
"""Digits; Python converts few more, and a longer integer is read as a float."""

BUDGET = 20_000_000
"""Characters that reading one text may look at, about a second: a text of brackets alone takes no hours."""

_OPENING = re.compile(r'\{(?=\s*["}])|\[(?=\s*[\[\]{"\-\dtfnNI])')
_BEHIND_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[^\n`]*\n\s*(?=[{\[])", re.MULTILINE)


class Found(NamedTuple):
    """An object or array of a text, and the keys that stand more than once in one object of it (the last counts)."""

    value: Any
    repeated: tuple[str, ...]


def find(text: str) -> Iterator[Found]:
    """The outermost objects and arrays, the likeliest answer first. NaN is no JSON, nor is what nests too deep.

    A text that is JSON as a whole is one value. Else those right behind a fence come first (and again in their turn),
    then all in order; inside what cannot be read, smaller ones are looked for.
    """
    reader = _Reader(text)
    if whole := reader.whole():
        yield whole
        return
    for fence in _BEHIND_FENCE.finditer(text):
        if fenced := reader.read(fence.end()):
            yield fenced[0]
    position = 0
    while opening := _OPENING.search(text, position):
        position = opening.start() + 1
        if value := reader.read(opening.start()):
            position = value[1]
            yield value[0]


def parse(text: str) -> Any:
    """The value of a text that is an object or array as a whole, None of any other."""
    whole = _Reader(text).whole()
    return whole.value if whole else None


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a value, itself among them, outer before inner."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
        waiting += reversed(_inner(item))


def _inner(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for item in level for inner in _inner(item)]
        if not level:
            return True
    return False


class _Reader:
    """Reads single values of one text until its budget is used up."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = BUDGET
        self._repeated: list[str] = []
        self._constants = 0
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_int=_integer, parse_constant=self._constant
        )

    def whole(self) -> Found | None:
        """The object or array that the text is, blanks around it aside."""
        value = self.read(len(self._text) - len(self._text.lstrip()))
        return value[0] if value and not self._text[value[1] :].strip() else None

    def read(self, start: int) -> tuple[Found, int] | None:
        """The object or array that begins at a place, and its end; None if there is none."""
        if self._left < 0 or self._text[start : start + 1] not in ("{", "["):
            return None
        self._repeated, self._constants = [], 0
        try:
            value, end = self._decoder.raw_decode(self._text, start)
        except json.JSONDecodeError as error:
            # The library counts the lines up to the error, so a late one costs more than the reading.
            self._left -= error.pos - start + error.pos // 50 + 50
            return None
        except RecursionError:
            self._left -= len(self._text) - start
            return None
        self._left -= end - start
        if self._constants or not _is_shallow(value):
            return None
        return Found(value, tuple(dict.fromkeys(self._repeated))), end

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            keys = [key for key, _ in pairs]
            self._repeated += [key for key, times in collections.Counter(keys).items() if times > 1]
        return value

    def _constant(self, name: str) -> None:
        self._constants += 1


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= LONGEST_INTEGER else float(digits)
