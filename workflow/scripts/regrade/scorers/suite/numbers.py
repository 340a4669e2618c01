"""Numbers in a text, read as people write them, each with its place. Nothing is evaluated, and sizes are bounded."""

import itertools
import math
import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

LONGEST = 400
"""Digits of a number that is still read."""

MOST = 100_000
"""Numbers of a text that are still looked at; `find` gives one more where there are more."""

_LETTER = r"A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_MINUS = r"\-\u2212\u2013"
_GROUPED = r"[,\u00a0\u2009\u202f_'\u2019]"
_GROUPS = rf"(?<!\d,)\d{{1,3}}(?:{_GROUPED}\d{{3}})+(?!{_GROUPED}?\d)"
_NUMBER = re.compile(
    rf"(?=[{_MINUS}$\u20ac\u00a3\u00a5\u20b9\u20a9\u20bd.\d])"
    rf"(?P<sign>(?<![^\W_])(?<![)\].%])[{_MINUS}])?(?P<currency>[$\u20ac\u00a3\u00a5\u20b9\u20a9\u20bd]\s?)?"
    r"(?:(?<![\d./])(?:(?P<mixed>\d{1,3})\ )?(?P<above>\d{1,30})\s?/\s?(?P<below>\d{1,30})(?![\d/]|\.\d)"
    rf"|(?P<whole>{_GROUPS}|\d+)(?P<part>\.\d+)?|(?<![\w.])(?P<leading>\.\d+))"
    rf"(?P<exponent>[eE](?P<shift>[+{_MINUS}]?\d{{1,9}})(?!\w|\.\d)"
    rf"|\s?(?:x|\u00d7|\u00b7|\*|\\times|\\cdot)\s?10\s?\^\s?\{{?(?P<power>[+{_MINUS}]?\d{{1,400}})(?!\d)\}}?"
    rf"|\s?\^\s?\{{?(?P<raised>[+{_MINUS}]?\d{{1,400}})(?!\d)\}}?)?"
    r"(?P<percent>\s{0,3}(?:%|(?:percent|per\ cent|pct)\b))?",
    re.IGNORECASE,
)
_UNITS = re.compile(
    r"(?:(?:[munpkcdhgt\u00b5\u03bc]|da)?(?:m|g|s|l|a|v|w|j|n|k|c|f|b|t|pa|hz|ev|wh|ah|mol|bar|cal|bit|byte)s?"
    r"|[kmgt]ib|[km]?ph|bps|[kmg]bps|lbs?|oz|ft|in|mi|yd|h|hrs?|mins?|sec|d|days?|wks?|yrs?|years?|x|px|pt|pct|percent|bn|mn"
    r"|usd|eur|gbp|chf|jpy|cents?|am|pm|st|nd|rd|th|rad|deg|\u03c0|pi)\d?_*",
    re.IGNORECASE,
)
_CURRENCIES = re.compile("usd|eur|gbp|chf|jpy|us|rs", re.IGNORECASE)
_BEFORE = re.compile(rf"[{_LETTER}_]+\Z")
_BEHIND = re.compile(rf"[{_LETTER}_][\w]*")
_RAISED = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u207a", "0123456789-+")
_DECIMAL_COMMA = str.maketrans({".": ",", ",": "."})
_REWRITTEN = (
    (re.compile(r"\\!"), ""),
    (re.compile(r"\\,"), "\u2009"),
    (re.compile(r"\\[;: ]"), " "),
    (re.compile(r"\{,\}"), ","),
    (re.compile("\\\\%|\uff05"), "%"),
    (re.compile(r"\\(?:text|mathrm|mbox|textbf|mathbf)\s*\{([^{}]*)\}"), r" \1 "),
    (re.compile(r"(?<=\d)\s*\\[dt]?frac\s*\{\s*(\d{1,30})\s*\}\s*\{\s*(\d{1,30})\s*\}"), r" \1/\2"),
    (re.compile(r"\\[dt]?frac\s*\{\s*(-?\d{1,30})\s*\}\s*\{\s*(\d{1,30})\s*\}"), r"\1/\2"),
    (re.compile(r"\\[dt]?frac\s*(\d)(\d)(?!\d)"), r"\1/\2"),
    (
        re.compile(r"(\d?)([\u00bc-\u00be\u2150-\u215e])"),
        lambda found: found[1] + " " * bool(found[1]) + _plain_fraction(found[2]),
    ),
    (
        re.compile(r"(?<=[\w)\]])[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207a\u207b]{1,7}"),
        lambda found: "^" + found[0].translate(_RAISED),
    ),
)


class Number(NamedTuple):
    """A number: its value, where it starts and ends in what is read, and whether a percent sign follows.

    A fraction and a power are one number; what they are made of are numbers too, each a `part`.
    """

    value: Fraction
    start: int = 0
    end: int = 0
    percent: bool = False
    part: bool = False


def find(text: str, decimal: str = ".") -> list[Number]:
    """All numbers of a text, in order. Signs in words (Carbon-14, 10-15) are hyphens; 42abc and H2O hold no number.

    A comma groups thousands where three digits follow each; any other parts numbers, as in a list. `decimal: ","` turns
    both round. Words after a number (42 million, 5 km) change nothing, and exponents of words (m^2) are no numbers.
    """
    return list(itertools.islice(_numbers(_plain(text, decimal)), MOST + 1))


def _plain(text: str, decimal: str) -> str:
    for pattern, instead in _REWRITTEN:
        text = pattern.sub(instead, text)
    return text.translate(_DECIMAL_COMMA) if decimal == "," else text


def _plain_fraction(sign: str) -> str:
    return unicodedata.normalize("NFKC", sign).replace("\u2044", "/")


def _numbers(text: str) -> Iterator[Number]:
    for found in _NUMBER.finditer(text):
        if not _stands_alone(text, found):
            continue
        values = _fraction(found) if found["above"] else (_decimal(found),)
        if found["exponent"]:
            values = _with_exponent(found, values)
        for place, value in enumerate(values):
            if value is not None:
                yield Number(value, found.start(), found.end(), bool(found["percent"]), place > 0)


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    """No part of a word, nor its exponent: before it no Latin letter but a currency, behind it none but a unit."""
    start, end = found.span()
    last = text[start - 1] if start else " "
    if last == "^" or (last == "{" and text[start - 2 : start] == "^{"):
        return False
    if not (found["sign"] or found["currency"]) and (last == "_" or last.isalpha()):
        before = _BEFORE.search(text, max(0, start - 12), start)
        if before and before[0].strip("_") and not _CURRENCIES.fullmatch(before[0]):
            return False
    behind = _BEHIND.match(text, end, end + 40)
    return not behind or not behind[0].strip("_") or _UNITS.fullmatch(behind[0]) is not None


def _fraction(found: re.Match[str]) -> tuple[Fraction | None, ...]:
    """The value, None where something is divided by zero, and the parts."""
    turn = -1 if found["sign"] else 1
    first, *others = (Fraction(int(digits)) for digits in found.group("mixed", "above", "below") if digits)
    whole, above, below = (first, *others) if found["mixed"] else (Fraction(0), first, *others)
    return (turn * (whole + above / below) if below else None, turn * first, *others)


def _decimal(found: re.Match[str]) -> Fraction | None:
    digits, decimals = found["whole"] or "0", (found["part"] or found["leading"] or "")[1:]
    if len(digits) + len(decimals) > 2 * LONGEST:
        return None
    digits = digits if digits.isdecimal() else re.sub(_GROUPED, "", digits)
    if len(digits) + len(decimals) > LONGEST:
        return None
    number = int(digits + decimals) if not found["sign"] else -int(digits + decimals)
    return Fraction(number, 10 ** len(decimals))


def _with_exponent(found: re.Match[str], values: tuple[Fraction | None, ...]) -> tuple[Fraction | None, ...]:
    """The value times a power of ten, or raised to a power; in the second case it is also a part."""
    value, ten = values[0], found["shift"] or found["power"]
    exponent = int(re.sub(f"[{_MINUS}]", "-", ten or found["raised"]))
    if value is None or (not ten and found["above"]):
        return (None, *values)
    if abs(exponent) * (1 if ten else len(str(value))) > LONGEST or not (ten or value):
        return (None,) if ten else (None, *values)
    if ten:
        return (value * Fraction(10) ** exponent,)
    power = abs(value) ** exponent
    return (power if value > 0 else -power, *values)


def parse(value: Any, decimal: str = ".") -> Number | None:
    """An expected number: a number, or a text that holds one and nothing else but its unit; None for anything else.

    A text is read with the task's `decimal` sign, or, where it is no number then, with the point.
    """
    if isinstance(value, bool) or value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, int | float):
        return Number(Fraction(value if isinstance(value, int) else repr(value)))
    for sign in dict.fromkeys((decimal, ".")) if isinstance(value, str) else ():
        plain = _plain(value, sign)
        found = [number for number in _numbers(plain) if not number.part]
        if len(found) == 1:
            beside = plain[: found[0].start] + plain[found[0].end :]
            if re.fullmatch(r"[^\d]{0,24}", beside) and len(re.findall(r"\w+", beside)) <= 1:
                return found[0]
    return None


def as_count(value: Any) -> float | None:
    """A bound of a task as a number, also where it is written as a text; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
