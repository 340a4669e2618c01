"""Mode `json-schema`: the answer is JSON and fits a JSON Schema, 2020-12 as a whole."""

import json
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from regrade.scorers.benchpack.scored import Scored, ScoringFault, decided, with_error
from regrade.scorers.bounded import BoundedError, run_bounded

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

MODE = "json-schema"
CPU_S = 5.0
LONGEST_VALUE = 200

_INFINITE = (float("inf"), float("-inf"))
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_FIRST = ("const", "enum", "type", "required", "properties", "additionalProperties")
_WORDS = {
    "const": "must equal {}",
    "enum": "must be one of {}",
    "type": "must be of type {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "pattern": "must match the pattern {}",
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} keys",
    "maxProperties": "must have at most {} keys",
    "uniqueItems": "must not hold the same item twice",
}


def score(schema: Any, output: str) -> Scored:
    """Raises ScoringFault without a schema. One that is not valid accepts nothing (it is a fault when packs load)."""
    if not isinstance(schema, dict):
        raise ScoringFault(f"scoring mode {MODE!r} requires its schema, expected a JSON object, found {schema!r:.100}")
    fault = _fault(schema)
    if fault:
        return with_error(MODE, False, "grader_error", fault)
    try:
        value = parse(output)
    except ValueError as error:
        return with_error(MODE, False, "invalid_format", f"invalid JSON: {error}")
    validator = _validator(schema)
    try:
        mismatch = run_bounded(lambda: first_mismatch(validator, value), CPU_S)
    except BoundedError as error:
        return with_error(MODE, False, "grader_error", f"schema: comparing the answer with it {error}")
    return with_error(MODE, False, "wrong_answer", mismatch) if mismatch else decided(MODE, True, "")


def _fault(schema: dict[str, Any]) -> str:
    """What makes a schema unusable, empty if nothing does; for packs that was looked at when they were read."""
    from regrade.formats.benchpack.json_schema import check
    from regrade.formats.benchpack.places import PlaceError

    try:
        check(schema)
    except PlaceError as error:
        return f"schema: {error}"
    return ""


def parse(output: str) -> Any:
    """The value of a JSON text. Raises ValueError; NaN, and a key that stands twice in one object, are no JSON here."""
    try:
        return json.loads(output, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise ValueError(f"key {shown(key)} stands twice in one object")
        value[key] = item
    return value


def first_mismatch(validator: "Validator", value: Any) -> str:
    """Where a value does not fit and what was expected there, empty if it fits; the place nearest to the root counts.

    Raises what the library raises, for one for a `$ref` that leads nowhere.
    """
    first = min(validator.iter_errors(value), key=_rank, default=None)
    return f"{path_of(first.absolute_path)} {_in_words(first)}" if first else ""


def _validator(schema: dict[str, Any]) -> "Validator":
    """One that fetches nothing: it knows the standard's own schemas and what stands in this one."""
    from jsonschema.validators import Draft202012Validator, extend
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    exact: type[Validator] = extend(Draft202012Validator, {"multipleOf": _multiple_of})  # type: ignore[no-untyped-call]
    return exact(schema, registry=REGISTRY)


def _multiple_of(validator: "Validator", divisor: float, instance: Any, _: Any) -> Iterator["ValidationError"]:
    """In decimal numbers, as they are written: for the library 0.3 is no multiple of 0.1, and 10**400 an overflow."""
    from jsonschema.exceptions import ValidationError

    if validator.is_type(instance, "number") and (instance in _INFINITE or _exact(instance) % _exact(divisor)):
        yield ValidationError("is no multiple")


def _exact(number: float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _rank(error: "ValidationError") -> tuple[int, int]:
    keyword = str(error.validator)
    return len(error.absolute_path), _FIRST.index(keyword) if keyword in _FIRST else len(_FIRST)


def _in_words(error: "ValidationError") -> str:
    keyword: Any = error.validator
    expected: Any = error.validator_value
    instance: Any = error.instance
    schema: Any = error.schema
    if keyword is None:
        # What `false` forbids comes with the path of what holds it.
        return f"must not hold {shown(instance)} where nothing is allowed"
    if keyword == "required":
        return f"must have the key {shown(next(key for key in expected if key not in instance))}"
    if keyword == "additionalProperties" and expected is False:
        return f"must not have the keys {shown(sorted(_extra(instance, schema)))}"
    if keyword in _WORDS:
        return _WORDS[keyword].format(shown(expected))
    return f"must fit {keyword}: {shown(expected)}"


def _extra(instance: dict[str, Any], schema: dict[str, Any]) -> Iterable[str]:
    patterns = schema.get("patternProperties", {})
    for key in instance:
        if key not in schema.get("properties", {}) and not any(re.search(pattern, key) for pattern in patterns):
            yield key


def path_of(parts: Iterable[Any]) -> str:
    """A place in a JSON value: `$.a[0]["odd key"]`."""
    path = "$"
    for part in parts:
        if isinstance(part, str):
            path += f".{part}" if _PLAIN_KEY.fullmatch(part) else f"[{shown(part)}]"
        else:
            path += f"[{part}]"
    return path


def shown(value: Any) -> str:
    """A JSON value in one bounded line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
