"""Wrong artifacts made from a right one: the case type, and the mutations that suit any task.

The names with an underscore are private only by spelling: case files written elsewhere import them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

_KEY = re.compile(r'"([^"\\\n]+)"\s*:')
_NUMBER = re.compile(r"-?\d+(?:\.(\d+))?")
_LONE_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]*\w)")


@dataclass(frozen=True)
class NegativeCase:
    """A mutation of the reference's text that a grader must reject."""

    name: str
    mutate: Callable[[str], str]
    expected_substring: str = ""
    currently_caught: bool = True
    notes: str = ""


def default_negative_cases() -> list[NegativeCase]:
    """The six cases for a task that has none of its own."""
    return [
        NegativeCase("empty", _mutate_empty),
        NegativeCase("truncated_half", _mutate_truncate_half),
        NegativeCase("reversed_lines", _mutate_reverse_lines),
        NegativeCase("renamed_field", _mutate_rename_one_field),
        NegativeCase("off_by_one", _mutate_off_by_one),
        NegativeCase("wrap_in_list", _mutate_wrap_in_list),
    ]


def _mutate_empty(text: str) -> str:
    """Nothing at all."""
    return ""


def _mutate_truncate_half(text: str) -> str:
    """The first half of the characters."""
    return text[: len(text) // 2]


def _mutate_reverse_lines(text: str) -> str:
    """The lines that are not blank, last first; a text of one line twice."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) <= 1:
        return text + text
    return "\n".join(reversed(lines)) + ("\n" if text.endswith("\n") else "")


def _mutate_rename_one_field(text: str) -> str:
    """The first JSON key renamed wherever it is a key; without one, a line that belongs to nothing."""
    found = _KEY.search(text)
    if found is None:
        return f"{text}\n__renamed_field__\n"
    key = found.group(1)
    return re.sub(rf'"{re.escape(key)}"(?=\s*:)', f'"{key}_renamed"', text)


def _mutate_off_by_one(text: str) -> str:
    """The first number, wherever it stands, plus one, with as many decimals; without one, a digit more."""
    found = _NUMBER.search(text)
    if found is None:
        return text + "1"
    return text[: found.start()] + _plus_one(found.group(), len(found.group(1) or "")) + text[found.end() :]


def _plus_one(number: str, decimals: int) -> str:
    scaled = int(number.replace(".", "")) + 10**decimals
    digits = str(abs(scaled)).rjust(decimals + 1, "0")
    sign = "-" if scaled < 0 else ""
    return sign + (f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits)


def _mutate_wrap_in_list(text: str) -> str:
    """The text between square brackets."""
    return f"[{text}]"


def _mutate_nan_numbers(text: str) -> str:
    """Every number that is not part of a word as NaN: what a comparison by `abs(a - b) > tolerance` lets pass."""
    return _LONE_NUMBER.sub("NaN", text)
