"""All tasks below a folder of suites: `*.yaml` directly in it, by name, each a list of tasks or a mapping with `tasks`.

A task with a fault is left out and named; it never stops the others. What parsing a file gave is kept under the digest
of its bytes, as parsing is what takes time; what lies beside the file is looked at each time.
"""

import contextlib
import json
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regrade import digests, files
from regrade.errors import Fault, FaultsError
from regrade.formats.benchpack import links
from regrade.formats.suite import fixtures, parse, pictures
from regrade.formats.suite.parse import Parsed
from regrade.formats.suite.task import SuiteTask
from regrade.formats.suite.wording import shown

_CODE = (
    *("formats/suite", "schemas.py", "nearest.py", "scorers/suite/numbers.py", "models/entries.py"),
    *("repository_tests/protected.py", "../../schemas"),
)
"""What decides what a file's bytes mean."""


@dataclass
class Loaded:
    """Tasks by id in the order of the files; faults by the id, or by `<file>#<number>` for a task without one, or by
    the file; and what is worth saying about sound files."""

    tasks: dict[str, SuiteTask] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    faulty: dict[str, SuiteTask] = field(default_factory=dict)
    """What is known of the tasks with a fault that have an id."""

    warnings: list[Fault] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    def all_faults(self) -> list[Fault]:
        """Every fault and warning, in the order of the files."""
        return [*(fault for faults in self.faults.values() for fault in faults), *self.warnings]


def load_all(folder: Path, cache: Path | None = None) -> Loaded:
    """The tasks of a folder; none if there is no such folder. `cache` is a folder for what parsing gave."""
    return load_files(sorted(folder.glob("*.yaml")) if folder.is_dir() else [], cache)


def load_files(paths: list[Path], cache: Path | None = None) -> Loaded:
    """The tasks of some files. Ids must differ over all of them."""
    loaded = Loaded(files=list(paths))
    where: dict[str, str] = {}
    for path in paths:
        parsed = _parsed(path, cache)
        loaded.warnings += [Fault(str(path), place, message, "warning") for place, message in parsed["warnings"]]
        if parsed["faults"]:
            loaded.faults.setdefault(path.name, []).extend(Fault(str(path), *said) for said in parsed["faults"])
        for entry in parsed["tasks"]:
            _add(loaded, where, path, entry, parsed["metadata"])
    return loaded


def _add(loaded: Loaded, where: dict[str, str], path: Path, entry: dict[str, Any], metadata: dict[str, Any]) -> None:
    """Put a task among the sound or the faulty ones. An id that stands twice is nobody's."""
    identifier, lines = entry["id"], entry["lines"]
    line = lines.get("id", lines["task"])
    faults = [Fault(str(path), *said) for said in entry["faults"]]
    if identifier in where:
        said = f"{identifier!r} stands twice, first in {where[identifier]}: expected each id once"
        faults.append(Fault(str(path), f"line {line}: id", said))
    where.setdefault(identifier, f"{path}, line {line}")
    found = _Beside() if faults else _beside(path, entry)
    faults += found.faults
    task = SuiteTask(
        identifier, path.stem, entry["fields"], str(path), lines["task"], metadata, found.fixture, found.images
    )
    if faults:
        loaded.tasks.pop(identifier, None)
        loaded.faulty[identifier] = task
        loaded.faults.setdefault(identifier, []).extend(faults)
    else:
        loaded.tasks[identifier] = task


@dataclass
class _Beside:
    """What a task names beside its file, found, and the faults of what was not."""

    fixture: str | None = None
    images: tuple[str, ...] = ()
    faults: list[Fault] = field(default_factory=list)


def _beside(path: Path, entry: dict[str, Any]) -> _Beside:
    found = _Beside()
    fields = entry["fields"]
    fixture, images = fields["scoring"].get("repo_fixture"), fields.get("image_path")
    if fixture is not None:
        place = fixtures.find(fixture, path)
        if place is not None and place.is_dir():
            found.fixture = str(place)
            for link, why in links.audit(place, fixtures.LEFT_OUT):
                found.faults.append(_fault(path, entry, "scoring.repo_fixture", f"{place / link} {why}"))
        else:
            said = f"{shown(fixture)} is no folder, expected a repository at one of: {fixtures.tried(fixture, path)}"
            found.faults.append(_fault(path, entry, "scoring.repo_fixture", said))
    for name in [images] if isinstance(images, str) else images or ():
        place = fixtures.find(name, path)
        if place is None:
            said = f"{shown(name)} is not there, expected an image at one of: {fixtures.tried(name, path)}"
            found.faults.append(_fault(path, entry, "image_path", said))
        elif unfit := _unfit(place):
            found.faults.append(_fault(path, entry, "image_path", f"{place} {unfit}"))
        else:
            found.images = (*found.images, str(place))
    return found


def _unfit(image: Path) -> str | None:
    try:
        return pictures.fault(image)
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def _fault(path: Path, entry: dict[str, Any], name: str, said: str) -> Fault:
    return Fault(str(path), f"line {entry['lines'][name]}: {entry['id']}: {name}", said)


def _parsed(path: Path, cache: Path | None) -> Parsed:
    try:
        content = path.read_bytes()
    except OSError as error:
        return parse.empty() | {"faults": [["", f"cannot be read: {error.strerror}"]]}
    kept = cache / f"{_digest(path, content)}.json.zz" if cache else None
    if kept and (found := _kept(kept)):
        return found
    parsed = parse.parse(path, content)
    if kept:
        with contextlib.suppress(OSError):  # Without it the next call parses again, which is all.
            files.write_bytes(kept, zlib.compress(json.dumps(parsed).encode(), 1))
    return parsed


def _digest(path: Path, content: bytes) -> str:
    """Of all that decides what is kept; the file's name stands in what is said of tasks without an id."""
    return digests.of_bytes(b"\0".join([os.fsencode(path.name), digests.of_code(*_CODE).encode(), content]))


def _kept(path: Path) -> Parsed | None:
    """What was kept; None for a file that is not there, or is no whole one."""
    try:
        found = json.loads(zlib.decompress(path.read_bytes()))
    except (OSError, ValueError, zlib.error):
        return None
    return found if isinstance(found, dict) and found.keys() == parse.empty().keys() else None


def load_task(mapping: dict[str, Any]) -> SuiteTask:
    """A task given as JSON, such as on a command line. What it lacks is taken as empty. Raises FaultsError."""
    scoring = mapping.get("scoring")
    if not isinstance(scoring, dict):
        raise FaultsError([Fault("task", "scoring", f"is {shown(scoring)}, expected a mapping with a type")])
    fields = {"category": "", "prompt": "", **mapping}
    return SuiteTask(str(mapping.get("id", "")), str(fields["category"]), fields)
