"""The faults of one task as it stands in its file, apart from what lies beside the file."""

import functools
import math
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from regrade import schemas
from regrade.formats.suite.reading import Document, Path
from regrade.nearest import nearest

TEXTS = ("exact", "contains", "contains_n", "ends_with", "fuzzy_match", "logprob_choice")
"""Scoring types whose expected value is a text, as it was written."""

NO_VALUE = "has none of"
_DATASET = ("id", "category", "dataset", "template", "scoring")
_PROMPT = ("id", "category", "prompt", "scoring")
_OF_INNER = ("k", "n", "samples", "inner_type", "type")


class Found(NamedTuple):
    """A fault: its place inside the task, its line, and what is wrong."""

    place: str
    line: int
    message: str
    severity: Literal["fault", "warning"] = "fault"


def listed(value: Any) -> list[Any]:
    """A value that may be one or several, as several."""
    return [] if value is None else value if isinstance(value, list) else [value]


@functools.cache
def types() -> tuple[str, ...]:
    """The scoring types that there are."""
    return tuple(schemas.schema("suite_scoring")["$defs"])


def faults(document: Document, at: Path, fields: Any) -> Iterator[Found]:
    """Everything wrong with the task at a path."""
    number = at[-1]
    if not isinstance(fields, dict):
        yield Found(
            "", document.line(at), f"task {number} is {fields!r:.60}, expected a mapping with {', '.join(_PROMPT)}"
        )
        return
    missing = [name for name in (_DATASET if "dataset" in fields else _PROMPT) if name not in fields]
    if missing:
        yield Found("", document.line(at), f"task {number} has no {', '.join(missing)}, expected all of them")
        return
    yield from _changed(document, at, fields)
    yield from _by_schema(document, at, "suite_task", fields, "")
    if isinstance(fields["scoring"], dict):
        unfinished = "template" in fields and "dataset" not in fields
        for found in dict.fromkeys(_scoring(document, at, fields["scoring"])):
            # A task made from one of a data set may still lack its value: it asks, and nothing is right.
            yield found._replace(severity="warning") if unfinished and found.message.startswith(NO_VALUE) else found
    yield from _extra_body(document, at, fields)
    yield from _near_misses(document, at, fields)


def _changed(document: Document, at: Path, fields: dict[str, Any]) -> Iterator[Found]:
    """Values that YAML makes something else of, where a text or a number is meant."""
    for name in ("id", "category", "prompt", "system", "template", "scoring", "difficulty", "tags"):
        if name not in fields:
            continue
        for odd in document.odd((*at, name)):
            place = ".".join(map(str, odd.path[len(at) :]))
            yield Found(
                place, odd.line, f"{odd.words} is read as {odd.value!r}: quote it ('{odd.words}') to mean the text"
            )


def _by_schema(document: Document, at: Path, name: str, value: Any, below: str) -> Iterator[Found]:
    for error in schemas.errors(name, value):
        path = (*at, *((below,) if below else ()), *error.path)
        place = ".".join(map(str, path[len(at) :]))
        yield from _in_words(error, place, document.line(path))


def _in_words(error: Any, place: str, line: int) -> Iterator[Found]:
    keyword = str(error.validator)
    known = dict(error.schema).get("properties", {}) if isinstance(error.schema, dict) else {}
    if keyword == "additionalProperties" and isinstance(error.instance, dict):
        for key in error.instance:
            if key not in known:
                hint = nearest(str(key), known) or f", expected one of {', '.join(sorted(known))}"
                yield Found(f"{place}.{key}".lstrip("."), line, f"unknown key{hint}")
    elif keyword == "required" and isinstance(error.instance, dict):
        missing = [key for key in error.validator_value if key not in error.instance]
        yield Found(place, line, f"has no {', '.join(missing)}, expected all of {', '.join(error.validator_value)}")
    elif keyword == "anyOf" and isinstance(error.instance, dict):
        choices = [" and ".join(choice["required"]) for choice in error.validator_value]
        yield Found(
            place, line, f"{NO_VALUE} {', '.join(choices)}, expected one: there is nothing to hold an answer against"
        )
    elif keyword == "enum":
        choices = [choice for choice in error.validator_value if choice]
        hint = nearest(str(error.instance), choices) or f", expected one of {', '.join(map(str, choices))}"
        yield Found(place, line, f"is {error.instance!r:.60}{hint}")
    else:
        expected = f"expected {keyword} {error.validator_value!r:.80}"
        yield Found(place, line, f"is {error.instance!r:.60}, {expected}")


def _scoring(document: Document, at: Path, scoring: dict[str, Any]) -> Iterator[Found]:
    kind = scoring.get("type", "contains")
    line = document.line((*at, "scoring"))
    if kind not in types():
        hint = nearest(str(kind), types()) or f", expected one of {', '.join(types())}"
        yield Found("scoring.type", line, f"unknown scoring type {kind!r:.60}{hint}")
        return
    if kind == "pass_at_k":
        yield from _by_schema(document, at, "suite_scoring/pass_at_k", scoring, "scoring")
        yield from _inner(document, at, scoring)
    else:
        yield from _by_schema(document, at, f"suite_scoring/{kind}", scoring, "scoring")
        yield from _values(document, at, kind, scoring)


def _inner(document: Document, at: Path, scoring: dict[str, Any]) -> Iterator[Found]:
    kind, line = scoring.get("inner_type", "code_exec"), document.line((*at, "scoring"))
    if kind not in types() or kind in ("pass_at_k", "agent_loop"):
        yield Found(
            "scoring.inner_type",
            line,
            f"is {kind!r:.60}, expected a type that scores one answer{nearest(str(kind), types())}",
        )
        return
    inner = {name: value for name, value in scoring.items() if name not in _OF_INNER}
    yield from _by_schema(document, at, f"suite_scoring/{kind}", inner, "scoring")
    yield from _values(document, at, kind, inner)
    drawn = scoring.get("n", scoring.get("samples"))
    if isinstance(drawn, int) and isinstance(scoring.get("k"), int) and scoring["k"] > drawn:
        yield Found("scoring.k", line, f"is {scoring['k']} with {drawn} samples, expected at most so many", "warning")


def _values(document: Document, at: Path, kind: str, scoring: dict[str, Any]) -> Iterator[Found]:
    """What no schema can say of a type's values."""
    line = document.line((*at, "scoring"))
    expected = scoring["answer"] if "answer" in scoring else scoring.get("value")
    if kind in TEXTS and expected is not None and not str(expected).strip() and kind != "exact":
        yield Found("scoring.value", line, f"is {expected!r}, expected a text: nothing is found in no answer")
    if kind == "regex" and isinstance(scoring.get("pattern"), str):
        try:
            re.compile(scoring["pattern"])
        except (re.error, RecursionError, OverflowError) as error:
            at_pattern = document.line((*at, "scoring", "pattern"))
            yield Found("scoring.pattern", at_pattern, f"{scoring['pattern']!r:.80} is no valid pattern: {error}")
    if kind == "numeric" and "answer_field" not in scoring and scoring.get("equality") != "math":
        yield from _number(expected, scoring, line)
    low, high = scoring.get("min", 0), scoring.get("max", math.inf)
    if kind == "word_count" and _is_count(low) and _is_count(high) and low > high:
        yield Found("scoring.min", line, f"is {low}, expected at most max ({high})")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(expected: Any, scoring: dict[str, Any], line: int) -> Iterator[Found]:
    from regrade.scorers.suite.numbers import as_count, parse

    number = parse(expected)
    if number is None:
        yield Found("scoring.value", line, f"is {expected!r:.60}, expected a finite number")
        return
    tolerance = as_count(scoring.get("tolerance"))
    if tolerance is not None and number.value and tolerance >= abs(float(number.value)):
        said = f"is {tolerance:g}, not less than the expected {float(number.value):g}: an answer of 0 passes"
        yield Found("scoring.tolerance", line, said, "warning")


def _extra_body(document: Document, at: Path, fields: dict[str, Any]) -> Iterator[Found]:
    """Keys of a request that are not a task's to set."""
    from regrade.models.entries import NOT_FOR_REQUEST

    for key in fields["extra_body"] if isinstance(fields.get("extra_body"), dict) else ():
        if key in NOT_FOR_REQUEST:
            line = document.line((*at, "extra_body", key))
            yield Found(f"extra_body.{key}", line, "is not a task's to set, expected parameters of the request")


def _near_misses(document: Document, at: Path, fields: dict[str, Any]) -> Iterator[Found]:
    """Unknown keys are kept, but one that is nearly a known one is likely meant as that."""
    known = schemas.schema("suite_task")["properties"]
    for key in fields:
        if key not in known and (hint := nearest(str(key), known)):
            yield Found(str(key), document.line((*at, key)), f"is no known key{hint}", "warning")


def as_written(document: Document, at: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a sound task; expected texts that look like numbers are as they were written (1.10, not 1.1)."""
    scoring = fields["scoring"]
    kind = scoring.get("inner_type") if scoring.get("type") == "pass_at_k" else scoring.get("type", "contains")
    if kind not in TEXTS:
        return fields
    texts = {
        name: document.words((*at, "scoring", name))
        for name in ("value", "answer")
        if isinstance(scoring.get(name), int | float) and not isinstance(scoring.get(name), bool)
    }
    return {**fields, "scoring": {**scoring, **texts}} if texts else fields
