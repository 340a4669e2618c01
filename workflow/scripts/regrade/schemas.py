"""Checking values against the JSON Schemas in workflow/schemas."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

FOLDER = Path(__file__).parents[2] / "schemas"


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """The schema in `workflow/schemas/<name>.schema.yaml`."""
    text = (FOLDER / f"{name}.schema.yaml").read_text()
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (a safe loader)


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
    except fastjsonschema.JsonSchemaValueException:
        from jsonschema import Draft202012Validator

        yield from sorted(Draft202012Validator(schema(name)).iter_errors(value), key=lambda error: list(error.path))
