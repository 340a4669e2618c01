"""Checking values against the JSON Schemas in workflow/schemas, and saying what is wrong in words."""

import functools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from regrade.errors import Fault
from regrade.nearest import nearest

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

FOLDER = Path(__file__).parents[2] / "schemas"


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """The schema in `workflow/schemas/<name>.schema.yaml`; `<name>/<part>` is one of its definitions."""
    if "/" in name:
        whole, part = name.split("/")
        definition: dict[str, Any] = schema(whole)["$defs"][part]
        return definition
    text = (FOLDER / f"{name}.schema.yaml").read_text()
    value: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (a safe loader)
    return value


@functools.cache
def _fast(name: str) -> Callable[[Any], Any]:
    import fastjsonschema

    return fastjsonschema.compile(schema(name), use_default=False)


def errors(name: str, value: Any) -> Iterator["ValidationError"]:
    """Every way in which a value breaks a schema, in the order of the document.

    fastjsonschema says yes quickly; only a value that it refuses is worth the import of jsonschema,
    which finds all the errors.
    """
    import fastjsonschema

    try:
        _fast(name)(value)
    except fastjsonschema.JsonSchemaValueException as error:
        from jsonschema import Draft202012Validator, ValidationError

        found = list(Draft202012Validator(schema(name)).iter_errors(value))
        found.sort(key=lambda error: [str(part) for part in error.path])
        # Only the quick one minds a line end behind what `$` closes in a pattern.
        yield from found or [
            ValidationError(
                error.message,
                validator=str(error.rule),
                path=error.path[1:],
                instance=error.value,
                schema=error.definition,
            )
        ]


def faults(name: str, value: Any, source: str) -> list[Fault]:
    """Everything in the parsed file `source` that breaks a schema, and every number in it that is not finite."""
    found = [fault for error in errors(name, value) for fault in _in_words(error, source)]
    return found + [Fault(source, place, f"is {number!r}, expected a finite number") for place, number in _odd(value)]


def _in_words(error: "ValidationError", source: str) -> Iterator[Fault]:
    """One schema error: path, field, value, what was expected."""
    place = ".".join(str(part) for part in error.path)
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known = dict(error.schema)["properties"] if isinstance(error.schema, dict) else {}
        for key in error.instance:
            if key not in known:
                hint = nearest(str(key), known) or f", expected one of {', '.join(sorted(known))}"
                yield Fault(source, f"{place}.{key}".lstrip("."), f"unknown key{hint}")
        return
    yield Fault(source, place, f"is {error.instance!r:.200}: {error.message[:300]}")


def _odd(value: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Infinities and NaN, which schemas let pass, with their places."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _odd(item, f"{place}.{key}".lstrip("."))
    elif isinstance(value, float) and not math.isfinite(value):
        yield place, value
