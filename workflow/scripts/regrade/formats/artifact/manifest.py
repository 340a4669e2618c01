"""The faults of a task.yaml that need no look at other files."""

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from regrade import schemas
from regrade.errors import Fault
from regrade.nearest import nearest

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

SCHEMA = "artifact_task"

ID = re.compile(r"[a-z][a-z0-9_]*__[a-z0-9_]+")
"""An id, to be matched in full: `$` would let a line end through."""

_WORDS = {str: "a string", int: "an int", bool: "a bool", float: "a float", list: "a list", dict: "a mapping"}


def faults(manifest: Any, source: str, category: str, slug: str, categories: Collection[str]) -> Iterator[Fault]:
    """Every fault of a parsed manifest whose folder is `<category>/<slug>`.

    An id may hold more than one `__`. Nothing guesses where to cut it: it is `<category>__<slug>` for the
    declared category and the folder's name, so `a__b__c` is slug `b__c` of category `a`.
    """
    for error in schemas.errors(SCHEMA, manifest):
        yield from _translate(error, source)
    if isinstance(manifest, dict):
        yield from _identity(manifest, source, category, slug, categories)
        yield from _whole_numbers(manifest.get("execution_budget"), source)


def shown(value: Any) -> str:
    """A value as a message shows it: its kind and, cut to size, itself."""
    if value is None:
        return "nothing"
    return f"{_WORDS.get(type(value), type(value).__name__)} {value!r:.100}"


def _identity(
    manifest: dict[str, Any], source: str, category: str, slug: str, categories: Collection[str]
) -> Iterator[Fault]:
    identifier, declared = manifest.get("instance_id"), manifest.get("category")
    if isinstance(declared, str):
        if declared not in categories:
            known = f"expected one of {', '.join(categories)}{nearest(declared, categories)}"
            yield Fault(source, "category", f"unknown category {declared!r}, {known}")
        if declared != category:
            yield Fault(source, "category", f"is {declared!r}, expected the name of the folder above, {category!r}")
    if not isinstance(identifier, str):
        return
    if not ID.fullmatch(identifier):
        yield Fault(
            source,
            "instance_id",
            f"is {identifier!r}, expected <category>__<slug> in small letters, digits and _ with nothing around it",
        )
        return
    if isinstance(declared, str) and not identifier.startswith(f"{declared}__"):
        yield Fault(
            source,
            "instance_id",
            f"category prefix mismatch: is {identifier!r}, expected it to start {declared + '__'!r}",
        )
    elif isinstance(declared, str) and identifier != f"{declared}__{slug}":
        found = identifier.removeprefix(f"{declared}__")
        yield Fault(source, "instance_id", f"has the slug {found!r}, expected the folder's name, {slug!r}")


def _whole_numbers(budget: Any, source: str) -> Iterator[Fault]:
    """JSON Schema takes 1.0 for an integer; YAML and the format do not."""
    for key in ("max_code_runs", "max_wall_seconds"):
        value = budget.get(key) if isinstance(budget, dict) else None
        if isinstance(value, float) and value.is_integer() and value >= 0:
            yield Fault(source, f"execution_budget.{key}", f"must be int >= 0, found {shown(value)}")


def _translate(error: "ValidationError", source: str) -> Iterator[Fault]:
    """One schema error as faults in the format's own words."""
    place = ".".join(str(part) for part in error.path)
    schema: Any = error.schema
    value: Any = error.instance
    match error.validator:
        case "additionalProperties":
            for key in value:
                if key not in schema["properties"]:
                    field = f"{place}.{key}".lstrip(".")
                    known = ", ".join(schema["properties"])
                    yield Fault(
                        source, field, f"unknown field, expected one of {known}{nearest(key, schema['properties'])}"
                    )
        case "required":
            # jsonschema reports each missing field on its own and names it only in its message.
            field = error.message.split("'")[1]
            wanted = schema["properties"][field].get("type", "one of the values allowed")
            yield Fault(source, f"{place}.{field}".lstrip("."), f"missing required field, expected {_kind(wanted)}")
        case "enum":
            allowed = ", ".join(schema["enum"])
            yield Fault(source, place, f"{place} must be one of {allowed}; found {shown(value)}")
        case "pattern":
            return
        case _:
            yield Fault(source, place, _wrong_type(place, schema, value))


def _kind(wanted: Any) -> str:
    first = wanted[0] if isinstance(wanted, list) else wanted
    return {"object": "a mapping", "array": "a list of strings", "string": "a string", "integer": "int >= 0"}.get(
        first, str(first)
    )


def _wrong_type(place: str, schema: Any, value: Any) -> str:
    if not place:
        return f"the file must be a mapping of fields, found {shown(value)}"
    hint = "; leave the field out if there is none" if value is None else ""
    if schema["type"] == "integer":
        return f"must be int >= 0, found {shown(value)}"
    return f"{place} must be {_kind(schema['type'])}, found {shown(value)}{hint}"
