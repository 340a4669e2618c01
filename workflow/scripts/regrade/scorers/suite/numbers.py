"""Numbers in a text, read as people write them, each with its place."""

import math
import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

LONGEST = 400
"""Digits of a number that is still read."""

_UNITS = (
    "kg|g|mg|lb|lbs|oz|km|m|cm|mm|nm|ft|in|mi|l|ml|s|ms|us|ns|h|hr|hrs|min|mins|d|k|m|b|kb|mb|gb|tb|kib|mib|gib|hz|khz|mhz|ghz|"
    "w|kw|kwh|v|a|c|f|x|px|pt|pct|percent|usd|eur|gbp|am|pm|st|nd|rd|th|cents|years|°c|°f"
)
_CURRENCY = "usd|eur|gbp|chf|jpy|us|rs"
_GROUPS = r"\d{1,3}(?:[,\u00a0\u2009\u202f_']\d{3})+(?![\d])"
_NUMBER = re.compile(
    rf"(?P<sign>(?<![^\W_])(?<![)\].%])[-\u2212])?"
    rf"(?:(?P<whole>{_GROUPS}|\d+)(?P<part>\.\d+)?|(?<![\w.])(?P<leading>\.\d+))"
    r"(?P<exponent>[eE][-+]?\d{1,6}(?![\w.])|\s?(?:x|\u00d7|\*|\\times|\\cdot)\s?10\s?\^\s?\{?(?P<power>[-\u2212]?\d{1,4})\}?)?"
    r"(?P<percent>\s?(?:\\?%|percent\b|pct\b))?",
    re.IGNORECASE,
)
_DECIMAL_COMMA = str.maketrans({".": ",", ",": "."})
_LATEX = (
    (re.compile(r"\\[!,;: ]|\{,\}"), lambda found: "," if found[0] == "{,}" else ""),
    (re.compile(r"\\(?:text|mathrm|mbox|textbf|mathbf)\s*\{([^{}]*)\}"), lambda found: f" {found[1]} "),
)
_FRACTION = re.compile(
    r"\\[dt]?frac\s*\{\s*(-?\d{1,30})\s*\}\s*\{\s*(\d{1,30})\s*\}"
    r"|(?<![\w./])(-?\d{1,30})\s?/\s?(\d{1,30})(?![\w/]|\.\d)"
)


_ALONE = re.compile(r"[^\w]*[\d.,_'\s\u2212-]+(?:e[-+]?\d+)?\s*(?:\\?%|[A-Za-z°]{0,8})[^\w]*", re.IGNORECASE)


class Number(NamedTuple):
    """A number: its value, where it starts, whether a percent sign follows."""

    value: float | Fraction
    start: int
    percent: bool = False


def find(text: str, decimal: str = ".") -> list[Number]:
    """All numbers of a text, in order. Signs in words (Carbon-14, 10-15) are hyphens; 42abc and H2O hold no number.

    A comma groups thousands where three digits follow each; any other parts numbers, as in a list. `decimal: ","` turns
    both round.
    """
    plain = text
    for pattern, instead in _LATEX:
        plain = pattern.sub(instead, plain)
    if decimal == ",":
        plain = plain.translate(_DECIMAL_COMMA)
    found = [*_fractions(plain), *_decimals(plain)]
    return sorted(found, key=lambda number: number.start)


def _decimals(text: str) -> Iterator[Number]:
    position = 0
    while found := _next(text, position):
        position = max(found.end(), found.start() + 1)
        if not _stands_alone(text, found):
            continue
        value = _value(found)
        if value is not None:
            yield Number(value, found.start(), bool(found["percent"]))


def _next(text: str, position: int) -> re.Match[str] | None:
    """The next match with digits; where there is none the search goes on behind the sign that stands there."""
    digit = re.compile(r"[-\u2212.]?\d")
    while start := digit.search(text, position):
        for place in range(max(position, start.start() - 1), start.end()):
            found = _NUMBER.match(text, place)
            if found:
                return found
        position = start.end()
    return None


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    """Not part of a word: no Latin letter before it but a currency, none behind it but a unit."""
    before = re.search(r"([A-Za-z_]+)$", text[max(0, found.start() - 12) : found.start()])
    if before and not found["sign"] and not re.fullmatch(_CURRENCY, before[1], re.IGNORECASE):
        return False
    behind = re.match(r"[A-Za-z_]\w*", text[found.end() : found.end() + 40])
    return not behind or bool(re.fullmatch(_UNITS, behind[0], re.IGNORECASE))


def _value(found: re.Match[str]) -> float | Fraction | None:
    whole = re.sub(r"[,\u00a0\u2009\u202f_']", "", found["whole"] or "0")
    part = (found["part"] or found["leading"] or "")[1:]
    if len(whole) + len(part) > LONGEST:
        return None
    digits = "".join(str(unicodedata.digit(sign)) for sign in whole + part)
    power = found["power"] or (found["exponent"][1:] if found["exponent"] else "0")
    shift = int(power.replace("\u2212", "-")) - len(part)
    if abs(shift) > LONGEST:
        return None
    value = Fraction(int(digits)) * Fraction(10) ** shift
    return -value if found["sign"] else value


def _fractions(text: str) -> Iterator[Number]:
    for found in _FRACTION.finditer(text):
        above, below = (found[1], found[2]) if found[2] else (found[3], found[4])
        if int(below):
            yield Number(Fraction(int(above), int(below)), found.start())


def parse(value: Any, decimal: str = ".") -> Number | None:
    """An expected number: a number, or a text that holds one and nothing else but its unit; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return Number(Fraction(repr(value)) if math.isfinite(value) else math.nan, 0) if _readable(value) else None
    text = str(value).strip()
    found = find(text, decimal)
    return found[0] if len(found) == 1 and _ALONE.fullmatch(text) else _fraction_alone(text)


def _readable(value: float) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _fraction_alone(text: str) -> Number | None:
    return next(iter(_fractions(text)), None) if _FRACTION.fullmatch(text.strip("$ ")) else None


def as_count(value: Any) -> float | None:
    """A bound of a task as a number, also where it is written as a text; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
