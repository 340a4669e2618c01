"""What a task's scoring table must hold, by its type: the schemas for it, and what no schema can say."""

import functools
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from regrade import schemas
from regrade.formats.suite.reading import Document, Path
from regrade.formats.suite.wording import NO_VALUE, shown
from regrade.nearest import nearest

TEXTS = ("exact", "contains", "contains_n", "ends_with", "fuzzy_match", "logprob_choice")
"""Types whose expected value is a text."""

_AS_WRITTEN = {
    **dict.fromkeys(TEXTS, ("value", "answer", "answer_map")),
    "multi_contains": ("values", "groups"),
    "not_contains": ("forbidden",),
}
"""Keys of texts that a number may stand for, as it was written."""

_MATCHED = ("expected_values", "expected_items", "expected_state", "state_contains", "required_call_args")
"""Keys whose values may be matchers, {regex: ...} among them."""

_OF_SAMPLES = ("k", "n", "samples", "inner_type")


class Problem(NamedTuple):
    """A fault: its path inside the table, and what is wrong."""

    path: Path
    message: str
    severity: Literal["fault", "warning"] = "fault"


@functools.cache
def types() -> tuple[str, ...]:
    """The scoring types that there are."""
    return tuple(schemas.schema("suite_scoring")["$defs"])


def tables(scoring: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Schemas, and what of a table each is for: one, or two for `pass_at_k` and its inner type."""
    kind = scoring.get("type", "contains")
    if kind == "pass_at_k":
        yield "suite_scoring/pass_at_k", {key: scoring[key] for key in (*_OF_SAMPLES, "type") if key in scoring}
        kind = _inner(scoring)
        scoring = {key: value for key, value in scoring.items() if key not in (*_OF_SAMPLES, "type")}
    if kind in types():
        yield f"suite_scoring/{kind}", scoring


def _inner(scoring: dict[str, Any]) -> Any:
    kind = scoring.get("inner_type", "code_exec")
    return None if kind in ("pass_at_k", "agent_loop") else kind


def problems(scoring: dict[str, Any], is_dataset: bool) -> Iterator[Problem]:
    """What is wrong with a table beyond its shape."""
    kind = scoring.get("type", "contains")
    if kind not in types():
        yield Problem(("type",), f"unknown scoring type {shown(kind)}{_one_of(kind)}")
        return
    if kind == "pass_at_k":
        kind = _inner(scoring)
        yield from _samples(scoring, kind)
    if "answer_field" in scoring and not is_dataset and not {"value", "answer", "count"} & scoring.keys():
        said = f"names a column, and the task has no dataset: the scoring {NO_VALUE} value, answer, expected one"
        yield Problem(("answer_field",), said)
    yield from _values(kind, scoring)
    for key in _MATCHED:
        yield from _patterns(scoring.get(key), (key,))


def _one_of(kind: Any) -> str:
    return nearest(str(kind).lower(), types()) or f", expected one of {', '.join(types())}"


def _samples(scoring: dict[str, Any], inner: Any) -> Iterator[Problem]:
    if inner not in types():
        said = scoring.get("inner_type")
        yield Problem(("inner_type",), f"is {shown(said)}, expected a type that scores one answer{_one_of(said)}")
    k, drawn = scoring.get("k"), scoring.get("n", scoring.get("samples"))
    if isinstance(k, int) and isinstance(drawn, int) and k > drawn:
        yield Problem(("k",), f"is {k} with {drawn} samples, expected at most so many: {k} are drawn", "warning")


def _values(kind: Any, scoring: dict[str, Any]) -> Iterator[Problem]:
    key = "answer" if "answer" in scoring else "value"
    expected = scoring.get(key)
    if kind in TEXTS and kind != "exact" and isinstance(expected, str) and not expected.strip():
        yield Problem((key,), f"is {expected!r}, expected a text: nothing is found in no answer")
    if kind == "regex":
        yield from _pattern(scoring.get("pattern"), ("pattern",))
    if kind == "numeric" and expected is not None and scoring.get("equality") != "math":
        yield from _number(expected, key, scoring)
    low, high = scoring.get("min"), scoring.get("max")
    if kind == "word_count" and isinstance(low, int) and isinstance(high, int) and low > high:
        yield Problem(("min",), f"is {low}, expected at most max ({high})")
    if "hidden_tests" in scoring:
        yield from _hidden_tests(scoring["hidden_tests"])


def _number(expected: Any, key: str, scoring: dict[str, Any]) -> Iterator[Problem]:
    from regrade.scorers.suite.numbers import as_count, parse

    number = parse(expected)
    if number is None:
        yield Problem((key,), f"is {shown(expected)}, expected a finite number")
        return
    tolerance = as_count(scoring.get("tolerance"))
    if tolerance is not None and number.value and Fraction(tolerance) >= abs(Fraction(number.value)):
        said = f"is {tolerance:g}, not less than the expected {shown(expected)}: an answer of 0 passes"
        yield Problem(("tolerance",), said, "warning")


def _hidden_tests(tests: Any) -> Iterator[Problem]:
    from regrade.repository_tests.protected import is_outside

    for place, test in enumerate(tests if isinstance(tests, list) else ()):
        path = test.get("path") if isinstance(test, dict) else None
        if isinstance(path, str) and (not path.strip("./ ") or is_outside(path)):
            said = f"is {shown(path)}, expected a path inside the repository"
            yield Problem(("hidden_tests", place, "path"), said)


def _patterns(value: Any, path: Path) -> Iterator[Problem]:
    """The faults of all matchers {regex: ...} inside a value."""
    if isinstance(value, dict) and value.keys() == {"regex"}:
        yield from _pattern(value["regex"], (*path, "regex"))
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _patterns(item, (*path, key))


def _pattern(pattern: Any, path: Path) -> Iterator[Problem]:
    if not isinstance(pattern, str):
        return
    try:
        re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        yield Problem(path, f"{shown(pattern, 80)} is no valid pattern: {error}")


def as_written(document: Document, at: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a sound task; expected texts that look like numbers are as they were written (1.10, not 1.1)."""
    scoring = fields["scoring"]
    kind = scoring.get("type", "contains")
    keys = _AS_WRITTEN.get(_inner(scoring) if kind == "pass_at_k" else kind, ())
    texts = {key: _texts(document, (*at, "scoring", key), scoring[key]) for key in keys if key in scoring}
    return {**fields, "scoring": {**scoring, **texts}} if texts else fields


def _texts(document: Document, path: Path, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _texts(document, (*path, key), item) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts(document, (*path, place), item) for place, item in enumerate(value)]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return document.words(path) if is_number else value
