"""A task's definition.json: reading it with every fault found, and writing it as its digest needs it."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from regrade import digests
from regrade.errors import Fault, FaultsError
from regrade.formats.selfbench import javascript
from regrade.formats.selfbench.fields import FIELDS, Field
from regrade.nearest import nearest


@dataclass(frozen=True)
class Timeouts:
    """Seconds for the set-up, for the agent and for each test command."""

    setup_seconds: int
    agent_seconds: int
    tests_seconds: int


@dataclass(frozen=True)
class Resources:
    """What a task's machine has; `cpus` may be a fraction."""

    cpus: float
    memory_mb: int
    storage_mb: int


@dataclass(frozen=True)
class Definition:
    """A sound definition. Texts are as they were written, but for `source_url`, which has no blanks at its ends."""

    schema_version: int
    difficulty: str
    task_id: str
    repo: str
    base_commit: str
    workdir: str
    setup_command: str
    test_command: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    test_paths: tuple[str, ...]
    toolchains: tuple[str, ...]
    source_pr: int
    source_url: str
    prompt: str
    timeouts: Timeouts
    resources: Resources


class _Object(dict[str, Any]):
    """A JSON object that remembers which keys stood in it more than once."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]


def parse(text: str | bytes, source: str) -> tuple[Definition, list[Fault]]:
    """The definition in a file called `source`, and warnings. Raises FaultsError with every fault."""
    value = decode(text, source)
    if not isinstance(value, dict):
        raise FaultsError([Fault(source, "", f"is {_kind(value)}, expected an object with the fields of a definition")])
    if faults := list(_faults(value, FIELDS, source, "")):
        raise FaultsError(faults)
    warnings = [
        Fault(source, key, "stands more than once: the last one counts", "warning") for key in _repeated(value, "")
    ]
    return _build(value), warnings


def decode(text: str | bytes, source: str) -> Any:
    """The JSON value, all its numbers as the floats that they are in JavaScript. Raises FaultsError."""
    try:
        content = text if isinstance(text, str) else text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FaultsError([Fault(source, "", f"is not UTF-8 at byte {error.start}, expected UTF-8 text")]) from error
    if content.startswith("\ufeff"):
        raise FaultsError([Fault(source, "line 1", "starts with a byte order mark, expected plain UTF-8: remove it")])
    try:
        return json.loads(
            content, object_pairs_hook=_Object, parse_int=float, parse_float=float, parse_constant=_no_constant
        )
    except RecursionError as error:
        raise FaultsError([Fault(source, "", "is nested too deeply, expected a definition")]) from error
    except json.JSONDecodeError as error:
        raise FaultsError([Fault(source, f"line {error.lineno}", f"is no JSON: {error.msg}")]) from error
    except ValueError as error:
        raise FaultsError([Fault(source, "", f"is no JSON: {error}")]) from error


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _faults(value: dict[str, Any], fields: dict[str, Field], source: str, within: str) -> Iterator[Fault]:
    for name, field in fields.items():
        place = f"{within}{name}"
        if name not in value:
            yield Fault(source, place, f"missing, expected {field.expected}")
        elif field.parts and isinstance(value[name], dict):
            yield from _faults(value[name], field.parts, source, f"{place}.")
        else:
            yield from _wrong(value[name], field, source, place)
    for name in value:
        if name not in fields:
            hint = nearest(name, fields) or f", expected one of {', '.join(fields)}"
            yield Fault(source, f"{within}{_shown(name)[1:-1]}", f"unknown key{hint}")


def _wrong(value: Any, field: Field, source: str, place: str) -> Iterator[Fault]:
    """The faults of one value; those of a list's items stand at their numbers."""
    if field.of and isinstance(value, list) and len(value) >= field.least:
        for number, item in enumerate(value):
            yield from _wrong(item, field.of, source, f"{place}.{number}")
    elif field.of or field.parts or not field.holds(value):
        yield Fault(source, place, f"is {_shown(value)}, expected {field.expected}")


def _shown(value: Any) -> str:
    """A value in a message: short, on one line."""
    if isinstance(value, dict | list):
        return _kind(value)
    if isinstance(value, float):
        return javascript.number(value) if math.isfinite(value) else "too large a number"
    text = javascript.stringify(value)
    return text if len(text) <= 100 else f"{text[:96]} ..."


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "an object" if isinstance(value, dict) else _shown(value)


def _repeated(value: Any, within: str) -> Iterator[str]:
    """Places of keys that stand more than once; parts are objects in objects only."""
    for name in value.repeated:
        yield f"{within}{name}"
    for name, item in value.items():
        if isinstance(item, _Object):
            yield from _repeated(item, f"{within}{name}.")


def _build(value: dict[str, Any]) -> Definition:
    plain = {_snake(name): _plain(item) for name, item in value.items()}
    plain["source_url"] = javascript.trimmed(plain["source_url"])
    plain["timeouts"], plain["resources"] = Timeouts(**plain["timeouts"]), Resources(**plain["resources"])
    return Definition(**plain)


def _plain(value: Any) -> Any:
    """A value as a definition holds it."""
    if isinstance(value, dict):
        return {_snake(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return tuple(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def _value(definition: Any, fields: dict[str, Field]) -> dict[str, Any]:
    """The definition as the JSON object that it was read from, keys in the order of the format."""
    found = {name: getattr(definition, _snake(name)) for name in fields}
    value: dict[str, Any] = {
        name: _value(found[name], field.parts) if field.parts else found[name] for name, field in fields.items()
    }
    if "cpus" in value:
        value["cpus"] = float(value["cpus"])
    return value


def canonical(definition: Definition) -> str:
    """The text that the digest is made from: keys in the order of the format, no blanks."""
    return javascript.stringify(_value(definition, FIELDS))


def digest(definition: Definition) -> str:
    """The hex SHA-256 of the canonical text, which a bundle's manifest calls `definitionSha256`."""
    return digests.of_bytes(canonical(definition).encode())


def pretty(definition: Definition) -> str:
    """The text of a definition.json: two blanks a level, a line end at the end."""
    return javascript.stringify(_value(definition, FIELDS), indent=2) + "\n"
