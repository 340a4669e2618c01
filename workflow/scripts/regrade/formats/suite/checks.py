"""The faults of one task as it stands in its file, apart from what lies beside the file."""

import difflib
import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from regrade import schemas
from regrade.formats.suite import scoring_checks
from regrade.formats.suite.reading import Document, Odd, Path
from regrade.formats.suite.wording import NO_VALUE, in_words, shown

_DATASET = ("id", "category", "dataset", "template", "scoring")
_PROMPT = ("id", "category", "prompt", "scoring")
_TRUTHS = (
    *("thinking", "agent_loop_native_tools", "native_tools", "strict_actions", "trust_remote_code", "shuffle"),
    "extra_body",
)
"""Keys where YAML's yes and no mean what they say."""

_DATES = ("introduced",)
_NEAR = 0.75
"""How alike an unknown key and a known one are where the one is likely the other, misspelt."""


class Found(NamedTuple):
    """A fault: its place inside the task, its line, and what is wrong."""

    place: str
    line: int
    message: str
    severity: Literal["fault", "warning"] = "fault"


def faults(document: Document, at: Path, fields: Any) -> Iterator[Found]:
    """Everything wrong with the task at a path."""
    number = at[-1]
    if not isinstance(fields, dict):
        said = f"task {number} is {shown(fields)}, expected a mapping with {', '.join(_PROMPT)}"
        yield Found("", document.line(at), said)
        return
    missing = [name for name in (_DATASET if "dataset" in fields else _PROMPT) if name not in fields]
    if missing:
        yield Found("", document.line(at), f"task {number} has no {', '.join(missing)}, expected all of them")
        return
    changed = [*_changed(document, at, fields), *not_finite(document, at, fields)]
    yield from changed
    told = {found.place for found in changed}
    for found in dict.fromkeys(_of_values(document, at, fields)):
        if found.place not in told:
            yield found
    yield from _near_misses(document, at, fields)


def _tiers(fields: dict[str, Any]) -> dict[str, str]:
    """What a task says of its tier, as it counts: in any case, with blanks around."""
    said = {name: fields.get(name) for name in ("benchmark_tier", "tier")}
    return {name: tier.strip().lower() for name, tier in said.items() if isinstance(tier, str)}


def _of_values(document: Document, at: Path, fields: dict[str, Any]) -> Iterator[Found]:
    yield from _by_schema(document, at, "suite_task", {**fields, **_tiers(fields)}, ())
    if isinstance(fields["scoring"], dict):
        unfinished = "template" in fields and "dataset" not in fields
        for found in _of_scoring(document, at, fields):
            # A task made from one of a data set may still lack its value: it asks, and nothing is right.
            lacks = unfinished and NO_VALUE in found.message
            yield found._replace(severity="warning") if lacks else found
    yield from _extra_body(document, at, fields)


def _of_scoring(document: Document, at: Path, fields: dict[str, Any]) -> Iterator[Found]:
    scoring = fields["scoring"]
    for name, checked in scoring_checks.tables(scoring):
        yield from _by_schema(document, at, name, checked, ("scoring",))
    for path, message, severity in scoring_checks.problems(scoring, "dataset" in fields):
        inside = ("scoring", *path)
        yield Found(_dotted(inside), document.line((*at, *inside)), message, severity)


def _changed(document: Document, at: Path, fields: dict[str, Any]) -> Iterator[Found]:
    """Values that YAML makes something else of, in fields that are known."""
    for name in schemas.schema("suite_task")["properties"]:
        if name in fields and name not in _DATES:
            for odd in document.odd((*at, name)):
                if not (isinstance(odd.value, bool) and {name, odd.path[-1]} & set(_TRUTHS)):
                    yield Found(_dotted(odd.path[len(at) :]), odd.line, _misread(odd))


def _misread(odd: Odd) -> str:
    is_date = isinstance(odd.value, str)
    meant = "a date" if is_date else shown(odd.value)
    instead = "" if is_date else f", or write {meant} if that is meant"
    return f"{odd.words} is read as {meant}: quote it ('{odd.words}') to mean the text{instead}"


def not_finite(document: Document, at: Path, value: Any, inside: Path = ()) -> Iterator[Found]:
    """Numbers that are none: no digest and no JSON file has them, in whatever field they stand."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from not_finite(document, at, item, (*inside, key))
    elif isinstance(value, float) and not math.isfinite(value):
        words = document.words((*at, *inside))
        said = f"is {words:.60}, expected a finite number (quote it to mean the text)"
        yield Found(_dotted(inside), document.line((*at, *inside)), said)


def _by_schema(document: Document, at: Path, name: str, value: Any, below: Path) -> Iterator[Found]:
    for error in schemas.errors(name, value):
        inside = (*below, *error.path)
        for said in in_words(error):
            path = (*inside, said.key) if said.key else inside
            yield Found(_dotted(path), document.line((*at, *path)), said.message)


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
        if key not in known and (near := difflib.get_close_matches(key.lower(), list(known), 1, _NEAR)):
            said = f"is no known key and is not read; did you mean {near[0]!r}?"
            yield Found(key, document.line((*at, key)), said, "warning")


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))
