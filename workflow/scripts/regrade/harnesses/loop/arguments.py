"""The arguments of a call as models write them: name="text", "name": value, {json}, or values in their order.

Texts may be in single, double or triple quotes. A text with quotes of its own kind in it, not escaped, goes on to where
the next argument is named, else to the last quote before the call's end.
"""

import re
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from regrade.harnesses.loop.json_values import read_at
from regrade.harnesses.loop.tools import TOOLS


class Unclosed(ValueError):  # noqa: N818 (says what is wrong)
    """A quoted text without an end."""


class Text(NamedTuple):
    """Where the arguments of one call stand, how they end, and which names they can have."""

    text: str
    closing: str
    parameters: Sequence[str]


_KEY = re.compile(r"""(["']?)([A-Za-z_]\w{0,60})\1\s{0,9}(?:=(?!=)|:(?!:))\s*""")
_BETWEEN = re.compile(r"[\s,]*")
_QUOTE = re.compile(r'"""|\'\'\'|"|\'')
_PLAIN = {")": re.compile(r"[^,)\n]{1,500}"), "}": re.compile(r"[^,}\n]{1,500}")}
_WHOLE = {quote: re.compile(rf"{quote}([^{quote}\\]*(?:\\.[^{quote}\\]*)*){quote}", re.DOTALL) for quote in ('"', "'")}
_NEXT_CALL = re.compile(rf"\n[ \t>*-]{{0,9}}(?:\w{{1,60}}\.){{0,3}}(?:{'|'.join(TOOLS)})\s{{0,3}}\(")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}


def read(text: str, position: int, closing: str, parameters: Sequence[str]) -> tuple[dict[str, Any], int]:
    """The arguments from behind a call's opening sign, and the place behind its closing one.

    Raises Unclosed, or ValueError, which says what is wrong.
    """
    within = Text(text, closing, parameters)
    args: dict[str, Any] = {}
    named = False
    while True:
        position = _BETWEEN.match(text, position).end()  # type: ignore[union-attr]
        if text.startswith(closing, position):
            return args, position + 1
        key = _KEY.match(text, position)
        named = named or key is not None
        value, position = _value(within, key.end() if key else position, set(args) | {key[2] if key else ""}, named)
        if key:
            args[key[2]] = value
        elif isinstance(value, dict) and not args:
            args = value
        elif len(args) < len(parameters):
            args[parameters[len(args)]] = value
        else:
            raise ValueError(f"it has more arguments than {len(parameters)}")
        if not re.compile(rf"\s*[,\{closing}]").match(text, position):
            raise ValueError(f"expected a comma or {closing!r} behind {text[max(0, position - 20) : position]!r}")


def _value(within: Text, position: int, given: set[str], named: bool) -> tuple[Any, int]:
    text = within.text
    quote = _QUOTE.match(text, position)
    if quote:
        return _quoted(within, position, quote[0], given, named)
    if text[position : position + 1] in ("{", "["):
        return read_at(text, position)
    plain = _PLAIN[within.closing].match(text, position)
    if not plain:
        raise ValueError("it has no end, or an argument without a value")
    said = plain[0].strip()
    try:
        value, end = read_at(said, 0)
    except ValueError:
        value, end = said, len(said)
    words = {"True": True, "False": False, "None": None}
    return words.get(said, value if end == len(said) else said), plain.end()


def _quoted(within: Text, position: int, quote: str, given: set[str], named: bool) -> tuple[str, int]:
    text = within.text
    whole = _WHOLE[quote].match(text, position) if len(quote) == 1 else None
    if whole and _goes_on(within, named).match(text, whole.end()):
        return unescaped(whole[1]), whole.end()
    start = position + len(quote)
    end = _end(within, start, quote, given)
    return as_it_stands(text[start:end], quote), end + len(quote)


def _goes_on(within: Text, named: bool) -> re.Pattern[str]:
    """What may follow a text: the end, or a comma and another argument; behind a named one only a named one."""
    key = r"""["']?\w{1,60}["']?\s{0,9}[=:]"""
    return re.compile(rf"\s*(?:\{within.closing}|,\s*(?:\{within.closing}|{key if named else '.'}))", re.DOTALL)


def _end(within: Text, start: int, quote: str, given: set[str]) -> int:
    """Where a text ends that has quotes like its own in it, or three of them around it."""
    text = within.text
    following = _NEXT_CALL.search(text, start)
    bound = following.start() if following else len(text)
    others = [name for name in within.parameters if name not in given]
    if others:
        named = rf"""(?<!\\){quote}(?=\s*,\s*["']?(?:{"|".join(others)})["']?\s*[=:])"""
        found = re.compile(named).search(text, start, bound)
        if found:
            return found.start()
    before_end = re.compile(rf"(?<!\\){quote}(?=\s*(?:,\s*)?\{within.closing})")
    ends = deque(before_end.finditer(text, start, bound), maxlen=1)
    # What looked like the next call may be part of the text.
    last = ends[0] if ends else before_end.search(text, bound)
    if not last:
        raise Unclosed(f"its text in {quote} has no end")
    return last.start()


def as_it_stands(text: str, quote: str) -> str:
    """A text of several lines is code as it is, but for escaped quotes like those around it; others have escapes."""
    if "\n" not in text:
        return unescaped(text)
    return text.replace("\\" + quote, quote).replace("".join("\\" + sign for sign in quote), quote)


def unescaped(text: str) -> str:
    """A text with its escapes resolved; those that are none stay as they are."""
    return _ESCAPE.sub(_resolved, text) if "\\" in text else text


def _resolved(found: re.Match[str]) -> str:
    sign = found[1]
    if len(sign) > 1:
        return chr(int(sign[1:], 16))
    return _ESCAPED.get(sign, sign if sign in "\"'\\/" else found[0])
