"""All tasks below a folder of suites: `*.yaml` directly in it, by name, each a list of tasks or a mapping with `tasks`.

A task with a fault is left out and named; it never stops the others. What parsing a file gave is kept under the digest
of its bytes, as parsing is what takes time.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regrade import digests, files
from regrade.errors import Fault, FaultsError
from regrade.formats.suite import checks, fixtures, pictures
from regrade.formats.suite.reading import Document
from regrade.formats.suite.task import SuiteTask

METADATA = ("version", "release", "signal_snapshot", "signal_source")


@dataclass
class Loaded:
    """Tasks by id in the order of the files; faults by the id, or by `<file>#<number>` for a task without one, or by
    the file; and what is worth saying about sound files."""

    tasks: dict[str, SuiteTask] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    warnings: list[Fault] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def all_faults(self) -> list[Fault]:
        """Every fault and warning, in the order of the files."""
        return [*(fault for faults in self.faults.values() for fault in faults), *self.warnings]


def load_all(folder: Path, cache: Path | None = None) -> Loaded:
    """The tasks of a folder; none if there is no such folder."""
    return load_files(sorted(folder.glob("*.yaml")) if folder.is_dir() else [], cache)


def load_files(paths: list[Path], cache: Path | None = None) -> Loaded:
    """The tasks of some files. Ids must differ over all of them."""
    loaded = Loaded(files=list(paths))
    where: dict[str, tuple[str, int]] = {}
    for path in paths:
        parsed = _parsed(path, cache)
        loaded.warnings += [Fault(str(path), *said) for said in parsed["warnings"]]
        for key, faults in parsed["faults"].items():
            loaded.faults.setdefault(key, []).extend(Fault(str(path), *fault) for fault in faults)
        for entry in parsed["tasks"]:
            _add(loaded, where, path, entry, parsed["metadata"])
    return loaded


def _add(
    loaded: Loaded, where: dict[str, tuple[str, int]], path: Path, entry: dict[str, Any], metadata: dict[str, Any]
) -> None:
    identifier, line = entry["fields"]["id"], entry["line"]
    if identifier in where:
        first = where[identifier]
        place = f"{first[0]}, line {first[1]}"
        fault = Fault(
            str(path), f"line {line}: id", f"{identifier!r} stands twice, first in {place}: expected each once"
        )
        loaded.tasks.pop(identifier, None)
        loaded.faults.setdefault(identifier, []).append(fault)
        return
    where[identifier] = (str(path), line)
    found = _beside(path, entry)
    if found.faults:
        loaded.faults[identifier] = found.faults
        return
    loaded.tasks[identifier] = SuiteTask(
        identifier, path.stem, entry["fields"], str(path), line, metadata, found.fixture, found.images
    )


@dataclass
class _Beside:
    """What a task names beside its file, found, and the faults of what was not."""

    fixture: str | None = None
    images: tuple[str, ...] = ()
    faults: list[Fault] = field(default_factory=list)


def _beside(path: Path, entry: dict[str, Any]) -> _Beside:
    found = _Beside()
    fields, line = entry["fields"], entry["line"]
    fixture = fields["scoring"].get("repo_fixture")
    if fixture is not None:
        place = fixtures.find(fixture, path)
        if place is None or not place.is_dir():
            said = f"{fixture!r} is no folder, expected a repository at one of: {fixtures.tried(fixture, path)}"
            found.faults.append(Fault(str(path), f"line {line}: {fields['id']}: scoring.repo_fixture", said))
        else:
            found.fixture = str(place)
    for name in checks.listed(fields.get("image_path")):
        place = fixtures.find(name, path)
        if place is None or (unfit := pictures.fault(place)):
            tried = fixtures.tried(name, path)
            said = (
                f"{name!r} is not there, expected an image at one of: {tried}" if place is None else f"{place} {unfit}"
            )
            found.faults.append(Fault(str(path), f"line {line}: {fields['id']}: image_path", said))
        else:
            found.images = (*found.images, str(place))
    return found


def _parsed(path: Path, cache: Path | None) -> dict[str, Any]:
    """What a file holds: tasks [{line, fields}], metadata, faults {key: [[place, message]]}, warnings."""
    try:
        content = path.read_bytes()
    except OSError as error:
        return _broken(path, [Fault(str(path), "", f"cannot be read: {error.strerror}")])
    kept = cache / f"{digests.of_bytes(content + _code().encode())}.json" if cache else None
    if kept:
        try:
            found: dict[str, Any] = files.read_json(kept)
            return found
        except (OSError, ValueError):
            pass
    try:
        parsed = _parse(Document(path, content), path)
    except FaultsError as error:
        parsed = _broken(path, error.faults)
    if kept:
        files.write_text(kept, json.dumps(parsed))
    return parsed


def _code() -> str:
    return digests.of_code("formats/suite", "yaml_file.py", "../../schemas")


def _broken(path: Path, faults: list[Fault]) -> dict[str, Any]:
    listed = [[fault.field, fault.message] for fault in faults]
    return {"tasks": [], "metadata": {}, "faults": {path.name: listed}, "warnings": []}


def _parse(document: Document, path: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = {"tasks": [], "metadata": {}, "faults": {}, "warnings": []}
    value: Any = document.value
    base: tuple[str, ...] = ()
    if isinstance(value, dict):
        if not isinstance(value.get("tasks"), list):
            found = "has no tasks" if "tasks" not in value else f"tasks is {value['tasks']!r:.60}"
            return _broken(
                path, [Fault(str(path), "", f"{found}, expected a list of tasks, or a mapping with such tasks")]
            )
        metadata = value.get("metadata") or {}
        if not isinstance(metadata, dict):
            return _broken(path, [Fault(str(path), "metadata", f"is {metadata!r:.60}, expected a mapping")])
        parsed["metadata"] = {name: metadata[name] for name in METADATA if name in metadata}
        value, base = value["tasks"], ("tasks",)
    elif value is None:
        parsed["warnings"].append(["", "holds no task", "warning"])
        value = []
    elif not isinstance(value, list):
        parsed["warnings"].append(["", f"holds {value!r:.60}, expected a list of tasks: it is skipped", "warning"])
        value = []
    for number, fields in enumerate(value):
        _take(document, (*base, number), fields, path, parsed)
    return parsed


def _take(document: Document, at: tuple[Any, ...], fields: Any, path: Path, parsed: dict[str, Any]) -> None:
    """Put one task among the sound or the faulty ones of its file."""
    identifier = fields.get("id") if isinstance(fields, dict) else None
    known = identifier if isinstance(identifier, str) and identifier else f"{path.name}#{at[-1]}"
    faults: list[list[str]] = []
    for found in checks.faults(document, at, fields):
        place = f"line {found.line}: {_place(known, at, found.place)}"
        if found.severity == "warning":
            parsed["warnings"].append([place, found.message, "warning"])
        else:
            faults.append([place, found.message])
    if faults:
        parsed["faults"].setdefault(known, []).extend(faults)
    else:
        parsed["tasks"].append({"line": document.line(at), "fields": checks.as_written(document, at, fields)})


def _place(known: str, at: tuple[Any, ...], place: str) -> str:
    name = f"tasks[{at[-1]}]" if "#" in known else known
    return f"{name}: {place}" if place else name


def load_task(mapping: dict[str, Any]) -> SuiteTask:
    """A task given as JSON, such as on a command line. What it lacks is taken as empty. Raises FaultsError."""
    scoring = mapping.get("scoring")
    if not isinstance(scoring, dict):
        raise FaultsError([Fault("task", "scoring", f"is {scoring!r:.60}, expected a mapping with a type")])
    fields = {"category": "", "prompt": "", **mapping}
    return SuiteTask(str(mapping.get("id", "")), str(fields["category"]), fields)
