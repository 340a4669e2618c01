"""The JSON Schema files of scoring tables: parsed, valid by the 2020-12 drafts, and whole without the network."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regrade.formats.benchpack import places
from regrade.formats.benchpack.places import PlaceError

if TYPE_CHECKING:
    from referencing import Resource
    from referencing._core import Resolver


def read(folder: Path, declared: str) -> dict[str, Any]:
    """The schema object in a file of the pack. Raises PlaceError for anything that is none."""
    text = places.read_text(places.file(folder, declared))
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise PlaceError(f"expected JSON: {error!s:.200}") from error
    if not isinstance(value, dict):
        raise PlaceError("expected a JSON object that is a schema")
    return value


def check(schema: dict[str, Any]) -> None:
    """Raises PlaceError unless a schema is valid and every `$ref` in it leads somewhere."""
    from jsonschema import Draft202012Validator, SchemaError
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    from referencing.jsonschema import DRAFT202012

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise PlaceError(f"expected a valid JSON Schema: {error.json_path}: {error.message:.200}") from error
    except RecursionError as error:
        raise PlaceError("expected a JSON Schema that is not nested as deep") from error
    root = DRAFT202012.create_resource(schema)
    for reference in _unresolved(root, REGISTRY.resolver_with_root(root)):
        raise PlaceError(f"expected references within the file, found {reference!r:.200}")


def _unresolved(resource: "Resource[Any]", resolver: "Resolver[Any]") -> Iterator[str]:
    from referencing.exceptions import Unresolvable

    if isinstance(resource.contents, Mapping) and "$ref" in resource.contents:
        reference = resource.contents["$ref"]
        try:
            resolver.lookup(reference)
        except Unresolvable:
            yield reference
    for part in resource.subresources():
        yield from _unresolved(part, resolver.in_subresource(part))


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")
