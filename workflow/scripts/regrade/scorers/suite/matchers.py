"""Holding JSON values against what a task expects: equality, {contains: ...}, {regex: ...}, along dotted paths."""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from regrade.errors import RegradeError
from regrade.scorers.bounded import run_bounded
from regrade.scorers.suite.normalised import folded, shown, text_of

CPU_S = 5.0
MISSING = object()
"""What `at` gives where nothing is."""

_REPEATS = re.compile(r"[*+?{]")
_GROUPS = 3


class TableFault(RegradeError):  # noqa: N818 (a fault is what a user can mend)
    """A scoring table that no answer can be held against."""


def at(value: Any, path: str) -> Any:
    """What stands at a dotted path: keys, and indices of arrays (-1 is the last). A key may hold dots itself."""
    return _at(value, path.split("."))


def _at(value: Any, steps: list[str]) -> Any:
    if not steps:
        return value
    if isinstance(value, list):
        inside = re.fullmatch(r"-?\d{1,9}", steps[0], re.ASCII) and -len(value) <= int(steps[0]) < len(value)
        return _at(value[int(steps[0])], steps[1:]) if inside else MISSING
    if isinstance(value, dict):
        for taken in range(1, len(steps) + 1):
            key = ".".join(steps[:taken])
            found = _at(value[key], steps[taken:]) if key in value else MISSING
            if found is not MISSING:
                return found
    return MISSING


def matches(expected: Any, found: Any) -> bool:
    """Whether a value is what is expected: equal, or, for a matcher (an object of one key), containing or matching."""
    if found is MISSING:
        return False
    if is_matcher(expected):
        [(kind, wanted)] = expected.items()
        return contains(found, wanted) if kind == "contains" else _is_match(found, wanted)
    return same(expected, found)


def is_matcher(expected: Any) -> bool:
    """Whether an expected value is {contains: ...} or {regex: ...}; any other object is compared as it is."""
    return isinstance(expected, dict) and len(expected) == 1 and next(iter(expected)) in ("contains", "regex")


def contains(found: Any, wanted: Any) -> bool:
    """Whether a value holds all that is wanted, one thing or a list of them; nothing wanted is found nowhere.

    In a text: its part, case and accents aside. In an array: an equal member, or one that a matcher fits. In an
    object: its keys with equal values. Anything else must be equal.
    """
    if isinstance(found, str | list):
        needles = wanted if isinstance(wanted, list) else [wanted]
        return bool(needles) and all(_holds(found, needle) for needle in needles)
    if isinstance(found, dict) and isinstance(wanted, dict):
        return bool(wanted) and all(key in found and matches(value, found[key]) for key, value in wanted.items())
    return found is not MISSING and same(wanted, found)


def _holds(found: str | list[Any], needle: Any) -> bool:
    if isinstance(found, list):
        return any(matches(needle, member) for member in found)
    if is_matcher(needle):
        return matches(needle, found)
    wanted = folded(as_text(needle))
    return bool(wanted) and wanted in folded(found)


def same(expected: Any, found: Any) -> bool:
    """Equality of JSON values: 1 is 1.0, true is not 1, letters composed in two ways are the same."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = {text_of(key): value for key, value in expected.items()}
        return keys.keys() == found.keys() and all(same(value, found[key]) for key, value in keys.items())
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(same, expected, found))
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, str) and isinstance(found, str):
        return unicodedata.normalize("NFC", expected) == unicodedata.normalize("NFC", found)
    return bool(expected == found)


def as_text(value: Any) -> str:
    """A value as a text to search: a text itself, anything else as JSON writes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _is_match(found: Any, pattern: Any) -> bool:
    return compiled(pattern).search(as_text(found)) is not None


def compiled(pattern: Any) -> re.Pattern[str]:
    """A pattern that ignores case. Raises TableFault for what is none."""
    try:
        return re.compile(text_of(pattern), re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise TableFault(f"the task's pattern {shown(text_of(pattern))} is not valid: {error}") from error


def bounded(work: Callable[[], Any], expected: Iterable[Any]) -> Any:
    """What `work` (JSON) gives. It runs in a child with a time limit only where a pattern could take long.

    Raises TableFault for a pattern that is none, BoundedError beyond the limit.
    """
    patterns = [compiled(pattern).pattern for value in expected for pattern in _patterns(value)]
    if any(_REPEATS.search(pattern) or pattern.count("(") > _GROUPS for pattern in patterns):
        return run_bounded(work, CPU_S)
    return work()


def _patterns(expected: Any) -> Iterator[Any]:
    waiting = [expected]
    while waiting:
        value = waiting.pop()
        if is_matcher(value) and "regex" in value:
            yield value["regex"]
        elif isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value


def described(expected: Any) -> str:
    """What is expected, in a few words."""
    if is_matcher(expected):
        [(kind, wanted)] = expected.items()
        said = "something that contains" if kind == "contains" else "a match of"
        return f"{said} {as_seen(wanted)}"
    return as_seen(expected)


def as_seen(value: Any, most: int = 80) -> str:
    """A value in a bounded line, for messages."""
    if value is MISSING:
        return "missing"
    if isinstance(value, str):
        return shown(value, most)
    text = json.dumps(value, default=str)
    return text if len(text) <= most else f"{text[:most]}..."
