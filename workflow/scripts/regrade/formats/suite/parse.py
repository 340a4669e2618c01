"""What one file of a suite holds, as JSON: its tasks, sound and faulty, without a look at anything beside it."""

from pathlib import Path
from typing import Any

import yaml

from regrade.errors import FaultsError
from regrade.formats.suite import checks, reading
from regrade.formats.suite.reading import Document
from regrade.formats.suite.scoring_checks import as_written
from regrade.formats.suite.wording import shown

METADATA = ("version", "release", "signal_snapshot", "signal_source")
_PLACES = {"id": ("id",), "scoring.repo_fixture": ("scoring", "repo_fixture"), "image_path": ("image_path",)}
"""Of a task, where faults may be found later."""

Parsed = dict[str, Any]
"""tasks: [{id, lines, fields, faults}], metadata, and faults and warnings: [[place, message]]."""

_FILTERED = ("category", "difficulty", "benchmark_tier", "tier", "tags")
"""What is kept of a task with a fault: what a filter looks at."""


def empty() -> Parsed:
    """What a file without anything holds."""
    return {"tasks": [], "metadata": {}, "faults": [], "warnings": []}


def parse(path: Path, content: bytes) -> Parsed:
    """The tasks of a file, whatever is in it."""
    try:
        return _parse(Document(path, content), path)
    except FaultsError as error:
        return empty() | {"faults": [[fault.field, fault.message] for fault in error.faults]}


def _parse(document: Document, path: Path) -> Parsed:
    root = document.root
    if root is None:
        return empty() | {"warnings": [["", "holds no task"]]}
    if isinstance(root, yaml.ScalarNode):
        return empty() | {"warnings": [["line 1", f"is {shown(root.value)}, expected a list of tasks: it is skipped"]]}
    base: reading.Path = ("tasks",) if isinstance(root, yaml.MappingNode) else ()
    tasks = document.node(base)
    if not isinstance(tasks, yaml.SequenceNode):
        found = "has no tasks" if tasks is root else f"tasks is {shown(document.value(base))}"
        said = f"{found}, expected a list of tasks, or a mapping with such tasks"
        return empty() | {"faults": [[f"line {document.line(base)}", said]]}
    parsed = empty() | {"metadata": _metadata(document) if base else {}}
    if not tasks.value:
        parsed["warnings"].append([f"line {document.line(base)}", "holds no task"])
    for number in range(len(tasks.value)):
        _take(document, (*base, number), path, parsed)
    return parsed


def _metadata(document: Document) -> dict[str, Any]:
    """What a file says of all its tasks. Raises FaultsError, of the whole file, for what cannot be read."""
    at = ("metadata",)
    if document.node(at) is document.root:
        return {}
    metadata = document.value(at) or {}
    if not isinstance(metadata, dict):
        raise document.fault(at, f"metadata is {shown(metadata)}, expected a mapping")
    for found in checks.not_finite(document, at, metadata):
        raise document.fault(at, f"metadata.{found.place} {found.message}")
    return {name: metadata[name] for name in METADATA if name in metadata}


def _take(document: Document, at: reading.Path, path: Path, parsed: Parsed) -> None:
    """Add one task, with its faults, to what is parsed."""
    named = _identifier(document, at)
    known, shown_as = named or f"{path.name}#{at[-1]}", named or f"tasks[{at[-1]}]"
    entry: dict[str, Any] = {"id": known, "lines": {"task": document.line(at)}, "fields": {}, "faults": []}
    parsed["tasks"].append(entry)
    try:
        fields = document.value(at)
    except FaultsError as error:
        entry["faults"] = [[f"{fault.field}: {shown_as}", fault.message] for fault in error.faults]
        return
    for found in checks.faults(document, at, fields):
        place = f"line {found.line}: {shown_as}"
        said = [f"{place}: {found.place}" if found.place else place, found.message]
        (parsed["warnings"] if found.severity == "warning" else entry["faults"]).append(said)
    if entry["faults"] and isinstance(fields, dict):
        entry["fields"] = {name: fields[name] for name in _FILTERED if _is_text(fields.get(name))}
    elif not entry["faults"]:
        entry["fields"] = as_written(document, at, fields)
        entry["lines"] |= {name: document.line((*at, *inside)) for name, inside in _PLACES.items()}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _identifier(document: Document, at: reading.Path) -> str:
    """The id of a task, also where the rest of it cannot be read; empty if it has none."""
    task = document.node(at)
    if not isinstance(task, yaml.MappingNode):
        return ""
    try:
        value = document.value((*at, "id"))
    except FaultsError:
        written = (value for key, value in task.value if key.value == "id" and value.tag.endswith(":str"))
        value = next((node.value for node in written), "")
    return value if isinstance(value, str) else ""
