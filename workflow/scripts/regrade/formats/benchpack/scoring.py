"""The faults of scoring tables, each by itself: what its mode needs, and what makes no sense under it."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regrade.formats.benchpack import json_schema
from regrade.formats.benchpack.places import PlaceError
from regrade.formats.benchpack.words import shown

NEEDS = {"contains": "expected", "equals": "expected", "regex": "pattern"}
"""The text that a mode cannot do without."""

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of a variable, to be matched in full."""

Found = Iterator[tuple[str, str]]
"""(key, message) pairs."""


def faults(table: dict[str, Any], folder: Path) -> Found:
    """Everything wrong in a table beside what the manifest's schema says. A script is looked at before a run."""
    mode = table.get("mode")
    if not table or not isinstance(mode, str | None):
        return
    if mode is None:
        yield "mode", 'missing, expected what decides, such as mode = "contains"'
    if mode in NEEDS and not isinstance(table.get(NEEDS[mode]), str):
        yield NEEDS[mode], f"{_is(table, NEEDS[mode])}, expected a text: mode {mode} needs it"
    elif mode == "regex":
        yield from _pattern(table["pattern"])
    if mode == "json-schema":
        yield from _schema(table, folder)
    yield from _environment(table)


def _is(table: dict[str, Any], key: str) -> str:
    return f"is {shown(table[key])}" if key in table else "missing"


def _pattern(pattern: str) -> Found:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            yield "pattern", f"is {shown(pattern)}, expected a regular expression as Python has them: {error!s:.200}"


def _schema(table: dict[str, Any], folder: Path) -> Found:
    declared = table.get("schema")
    if not isinstance(declared, str):
        yield "schema", f"{_is(table, 'schema')}, expected the path of a JSON file inside the pack"
        return
    try:
        json_schema.check(json_schema.read(folder, declared))
    except PlaceError as error:
        yield "schema", f"is {shown(declared)}, {error}"


def _environment(table: dict[str, Any]) -> Found:
    if "environment" not in table:
        return
    variables = table["environment"]
    if table.get("mode") != "verify-script":
        yield "environment", f"stands under mode {shown(table.get('mode'))}, expected it only under verify-script"
    elif not isinstance(variables, dict):
        yield "environment", f"is {shown(variables)}, expected a table of texts"
    else:
        for name, value in variables.items():
            yield from _variable(name, value)


def _variable(name: str, value: Any) -> Found:
    if not VARIABLE.fullmatch(name):
        yield "environment", f"has the name {shown(name)}, expected letters, digits and _ with no digit in front"
    elif not isinstance(value, str):
        yield f"environment.{name}", f"is {shown(value)}, expected a text: put it into quotes"
    elif "\0" in value:
        yield f"environment.{name}", "holds a NUL byte, expected a text without one"
