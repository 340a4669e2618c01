"""The faults of a parsed benchpack.toml. Places in it are named by id: `cases.capital.scoring.mode`."""

import datetime
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regrade import schemas
from regrade.errors import Fault
from regrade.formats.benchpack import scoring
from regrade.formats.benchpack.words import shown
from regrade.nearest import nearest

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

SCHEMA = "benchpack"

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
"""The id of a pack, a case or a fixture, to be matched in full: `$` would let a line end through."""

_KNOWN = ("pack", "defaults", "requires", "scoring", "cases", "fixtures")

_WHOLE = {"warmup", "repetitions", "max_tokens", "min_context"}


def faults(manifest: dict[str, Any], folder: Path) -> Iterator[Fault]:
    """Every fault that needs no look at prompts and fixtures; the files of json-schema are looked at."""
    source = str(folder / "benchpack.toml")
    for error in schemas.errors(SCHEMA, manifest):
        for parts, message in _translate(error):
            yield Fault(source, name_of(manifest, parts), message)
    own = [_pack, _cases, _fixtures, _values]
    for parts, message in (found for check in own for found in check(manifest)):
        yield Fault(source, name_of(manifest, parts), message)
    for parts, table in scoring_tables(manifest):
        for key, message in scoring.faults(table, folder):
            yield Fault(source, name_of(manifest, [*parts, key]), message)


def tables(manifest: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The entries of `[[cases]]` or `[[fixtures]]` that are tables, with their numbers."""
    entries = manifest.get(name)
    for number, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            yield number, entry


def scoring_tables(manifest: dict[str, Any]) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Every scoring table and its place: the pack's and the cases' own."""
    if isinstance(manifest.get("scoring"), dict):
        yield ["scoring"], manifest["scoring"]
    for number, case in tables(manifest, "cases"):
        if isinstance(case.get("scoring"), dict):
            yield ["cases", number, "scoring"], case["scoring"]


def name_of(manifest: dict[str, Any], parts: list[Any]) -> str:
    """A place in words: entries stand under their ids, or as `#2` if they have none that can be used."""
    words = [str(part) for part in parts]
    if len(parts) > 1 and isinstance(parts[1], int):
        entry = manifest[parts[0]][parts[1]]
        identifier = entry.get("id") if isinstance(entry, dict) else None
        words[1] = identifier if isinstance(identifier, str) and ID.fullmatch(identifier) else f"#{parts[1] + 1}"
    return ".".join(words)


_Found = Iterator[tuple[list[Any], str]]


def _pack(manifest: dict[str, Any]) -> _Found:
    pack = manifest.get("pack")
    if isinstance(pack, dict):
        yield from _id(pack, ["pack"])


def _id(entry: dict[str, Any], parts: list[Any]) -> _Found:
    identifier = entry.get("id")
    if isinstance(identifier, str) and not ID.fullmatch(identifier):
        yield [*parts, "id"], f"is {shown(identifier)}, expected letters, digits, _ and -, with no _ or - in front"


def _cases(manifest: dict[str, Any]) -> _Found:
    fixtures = [fixture.get("id") for _, fixture in tables(manifest, "fixtures")]
    for number, case in tables(manifest, "cases"):
        parts = ["cases", number]
        yield from _id(case, parts)
        yield from _prompt(case, parts)
        yield from _references(case, [*parts, "fixture_refs"], fixtures)
        if "harness" in case and case.get("kind") != "repo-task":
            kind = shown(case.get("kind", "chat"))
            yield [*parts, "harness"], f"stands in a case of kind {kind}, expected it only with repo-task"
    yield from _repeated(manifest, "cases")


def _prompt(case: dict[str, Any], parts: list[Any]) -> _Found:
    sources = [key for key in ("prompt", "prompt_file") if key in case]
    if len(sources) != 1:
        yield [*parts, "prompt"], f"has {' and '.join(sources) or 'neither'}, expected one of prompt and prompt_file"


def _references(case: dict[str, Any], parts: list[Any], fixtures: list[Any]) -> _Found:
    declared = case.get("fixture_refs")
    names = [name for name in declared if isinstance(name, str)] if isinstance(declared, list) else []
    for place, name in enumerate(names):
        if name in names[:place]:
            yield parts, f"names {shown(name)} twice, expected each fixture once"
        elif name not in fixtures:
            hint = nearest(name, [known for known in fixtures if isinstance(known, str)])
            yield parts, f"names {shown(name)}, expected the id of a fixture of this pack{hint}"


def _fixtures(manifest: dict[str, Any]) -> _Found:
    for number, fixture in tables(manifest, "fixtures"):
        yield from _id(fixture, ["fixtures", number])
        kind = fixture.get("kind")
        if isinstance(kind, str) and kind and not kind.strip():
            yield ["fixtures", number, "kind"], "is blank, expected a word such as context or repo"
    yield from _repeated(manifest, "fixtures")


def _repeated(manifest: dict[str, Any], name: str) -> _Found:
    seen: dict[str, int] = {}
    for number, entry in tables(manifest, name):
        identifier = entry.get("id")
        if isinstance(identifier, str) and seen.setdefault(identifier, number) != number:
            first, second = seen[identifier] + 1, number + 1
            yield [name, number, "id"], f"is {shown(identifier)} in #{first} and in #{second}, expected each id once"


def _values(manifest: dict[str, Any]) -> _Found:
    """What TOML can say and JSON cannot, in the tables that are read; and 1.0, which JSON Schema takes for whole."""
    for key in _KNOWN:
        for parts, value in _leaves(manifest.get(key), [key]):
            if isinstance(value, float) and not math.isfinite(value):
                yield parts, f"is {value}, expected a finite number"
            elif isinstance(value, float) and value.is_integer() and parts[-1] in _WHOLE and len(parts) == 2:
                yield parts, f"is {value}, expected a whole number without a point"
            elif isinstance(value, int) and not -(2**63) <= value < 2**63:
                yield parts, f"is {shown(value)}, expected a number of at most 64 bits"
            elif isinstance(value, datetime.date | datetime.time):
                yield parts, f"is the date or time {value}, expected a text: put it into quotes"


def _leaves(value: Any, parts: list[Any]) -> _Found:
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(item, [*parts, key])
    else:
        yield parts, value


def _translate(error: "ValidationError") -> _Found:
    """One schema error as (place, message) pairs."""
    parts = list(error.path)
    schema: Any = error.schema
    value: Any = error.instance
    match error.validator:
        case "pattern":
            return
        case "required":
            # jsonschema reports each missing key on its own and names it only in its message.
            key = error.message.split("'")[1]
            yield [*parts, key], f"missing, expected {_expected(schema['properties'][key])}"
        case "additionalProperties":
            known = schema["properties"]
            for key in value:
                if key not in known:
                    yield [*parts, key], f"unknown key, expected one of {', '.join(known)}{nearest(key, known)}"
        case "enum":
            hint = nearest(value, schema["enum"]) if isinstance(value, str) else ""
            yield parts, f"is {shown(value)}, expected one of {', '.join(schema['enum'])}{hint}"
        case _:
            quotes = schema.get("type") == "string" and isinstance(value, bool | int | float)
            hint = ": put it into quotes" if quotes else ""
            yield parts, f"is {shown(value)}, expected {_expected(schema)}{hint}"


def _expected(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    match schema.get("type"):
        case "integer":
            return f"a whole number of at least {schema['minimum']}"
        case "number":
            return "a number above 0" if "exclusiveMinimum" in schema else "a number"
        case "array":
            return "tables, each under [[...]]" if schema["items"]["type"] == "object" else "a list of texts"
        case kind:
            words = {"object": "a table", "boolean": "true or false"}
            return words.get(str(kind), "a text that is not empty" if "minLength" in schema else "a text")
