"""Type `json_schema`: a JSON value in the answer has the expected shape and values.

root             object (default) or array
min_items        least number of an array's items; 1 where required_keys are given without it
array_keys       keys that hold an array where they stand at all, of the object or of each item
required_keys    keys of the object, or of each item of the array
expected_values  dotted path -> value or matcher
expected_items   objects of which each fits some item of the array
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.bounded import BoundedError
from regrade.scorers.suite.json_in_text import Found, find
from regrade.scorers.suite.json_keys import repeated
from regrade.scorers.suite.matchers import TableFault, as_seen, at, bounded, described, is_matcher, matches
from regrade.scorers.suite.normalised import shown, text_of
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, right, wrong

MOST_TRIED = 100
"""Values of one answer that are held against the shape."""

_KINDS: dict[Any, type] = {"object": dict, "array": list}


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """The first value of the right shape is the answer, and only that: a note such as [1] before it is none, and of
    several guesses the first counts.
    """
    try:
        shape, values, items = _table(task.scoring)
        answer, mismatch = _answer(response.text, shape)
        if answer is None:
            return wrong(f"no JSON value in {shown(response.text)}", "invalid_format")
        value = answer.value
        mismatch = mismatch or bounded(lambda: _content(value, values, items), [*values.values(), *items])
    except TableFault as fault:
        return no_verdict("grader_error", str(fault))
    except BoundedError as error:
        return no_verdict("grader_error", f"comparing the answer with what is expected {error}")
    return wrong(mismatch, **repeated(answer)) if mismatch else right("as expected", **repeated(answer))


def _table(scoring: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
    """A scoring's shape, expected values and items. Raises TableFault where they are none."""
    root, required = scoring.get("root", "object"), _names(scoring, "required_keys")
    least = as_count(scoring.get("min_items", 1 if required else 0))
    if root not in ("object", "array"):
        raise TableFault(f"the task's root is {root!r:.60}, expected object or array")
    if least is None:
        raise TableFault(f"the task's min_items is {scoring['min_items']!r:.60}, expected a number")
    values, items = scoring.get("expected_values") or {}, scoring.get("expected_items") or []
    if not isinstance(values, dict) or not isinstance(items, list):
        raise TableFault("the task's expected_values must be a mapping, its expected_items a list")
    shape = {"root": root, "least": least, "arrays": _names(scoring, "array_keys"), "required": required}
    return shape, {text_of(path): value for path, value in values.items()}, items


def _names(scoring: dict[str, Any], key: str) -> list[str]:
    said = scoring.get(key) or []
    return [text_of(name) for name in (said if isinstance(said, list) else [said])]


def _answer(text: str, shape: dict[str, Any]) -> tuple[Found | None, str]:
    """The first value of the right shape; else the first of the right kind, or of any, and what is wrong with it."""
    first: Found | None = None
    kind = _KINDS[shape["root"]]
    for found in islice(find(text), MOST_TRIED):
        if not _misshapen(found.value, shape):
            return found, ""
        if first is None or (isinstance(found.value, kind) and not isinstance(first.value, kind)):
            first = found
    return first, _misshapen(first.value, shape) if first else ""


def _misshapen(value: Any, shape: dict[str, Any]) -> str:
    if not isinstance(value, _KINDS[shape["root"]]):
        return f"the answer is {as_seen(value)}, expected an {shape['root']}"
    if isinstance(value, list) and len(value) < shape["least"]:
        return f"the array has {len(value)} items, expected at least {shape['least']:g}"
    items: list[Any] = value if isinstance(value, list) else []
    places = [(f"{number}.", item) for number, item in enumerate(items)] if value is items else [("", value)]
    return next(_odd_arrays(places, shape["arrays"]), "") or next(_lacking(places, shape["required"]), "")


def _odd_arrays(places: list[tuple[str, Any]], keys: list[str]) -> Iterator[str]:
    for place, item in places:
        for key in keys:
            if isinstance(item, dict) and key in item and not isinstance(item[key], list):
                yield f"{place}{key} is {as_seen(item[key])}, expected an array"


def _lacking(places: list[tuple[str, Any]], keys: list[str]) -> Iterator[str]:
    for place, item in places:
        if keys and not isinstance(item, dict):
            yield f"item {place[:-1]} is {as_seen(item)}, expected an object with {', '.join(keys)}"
            continue
        for key in keys:
            if key not in item:
                yield f"{place}{key} is missing, expected as a key"


def _content(value: Any, values: dict[str, Any], items: list[Any]) -> str:
    """The first expected value or item that a value does not have, empty if it has all."""
    for path, expected in values.items():
        found = at(value, path)
        if not matches(expected, found):
            return f"{path} is {as_seen(found)}, expected {described(expected)}"
    if items and not isinstance(value, list):
        return "the answer is an object, expected an array with expected_items"
    for item in items:
        if not any(_fits(item, candidate) for candidate in value):
            return f"no item is as expected: {described(item)}"
    return ""


def _fits(expected: Any, item: Any) -> bool:
    """Whether an item has all that is expected of it; its other keys do not matter."""
    if not isinstance(expected, dict) or is_matcher(expected):
        return matches(expected, item)
    return isinstance(item, dict) and all(matches(value, at(item, text_of(path))) for path, value in expected.items())
