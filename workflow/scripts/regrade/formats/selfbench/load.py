"""Tasks on disk: a folder with definition.json, test.patch and gold.patch, held against the format's path rules."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regrade.errors import Fault, FaultsError
from regrade.formats.selfbench import diffs, javascript
from regrade.formats.selfbench.definition import Definition, parse
from regrade.patches import RefusedError
from regrade.patches.names import shown

DEFINITION, TEST_PATCH, GOLD_PATCH = "definition.json", "test.patch", "gold.patch"


@dataclass(frozen=True)
class SelfbenchTask:
    """One task: its folder, its definition, the two patches as they lie there, and what a reader should know."""

    folder: Path
    definition: Definition
    test_patch: bytes
    gold_patch: bytes
    warnings: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """Sound tasks and the faults of the others, both by their folders' names and sorted by them."""

    tasks: dict[str, SelfbenchTask]
    faults: dict[str, list[Fault]]

    def all_faults(self) -> list[Fault]:
        """Every fault, task by task."""
        return [fault for faults in self.faults.values() for fault in faults]


def discover(tasks_dir: Path) -> dict[str, Path]:
    """Task folders directly below a folder by their names, sorted; none if it is not there. Nothing is parsed."""
    if not tasks_dir.is_dir():
        return {}
    with os.scandir(tasks_dir) as entries:
        names = sorted(entry.name for entry in entries if not entry.name.startswith(".") and entry.is_dir())
    return {name: tasks_dir / name for name in names if os.path.lexists(tasks_dir / name / DEFINITION)}


def load_all(tasks_dir: Path) -> Loaded:
    """Every task below a folder. Never raises for a fault in a task. Each must lie in a folder called as its id."""
    return load_folders(discover(tasks_dir).values())


def load_folders(folders: Iterable[Path]) -> Loaded:
    """The tasks in these folders, which are taken for one collection."""
    tasks: dict[str, SelfbenchTask] = {}
    faults: dict[str, list[Fault]] = {}
    for folder in folders:
        name = folder.resolve().name
        try:
            task = load(folder)
        except FaultsError as error:
            faults.setdefault(name, []).extend(error.faults)
            continue
        if task.definition.task_id == name:
            tasks[name] = task
        else:
            found = f"is {task.definition.task_id!r}, expected the folder's name, {name!r}"
            faults.setdefault(name, []).append(Fault(str(folder / DEFINITION), "taskId", found))
    return Loaded(dict(sorted(tasks.items())), dict(sorted(faults.items())))


def load(folder: Path) -> SelfbenchTask:
    """The task in a folder. Raises FaultsError: for its definition, else for the first path rule that it breaks."""
    task = read(folder)
    for fault in faults(task):
        raise FaultsError([fault])
    cut = [name for name, patch in _patches(task) if diffs.is_cut(patch)]
    found = [
        Fault(str(folder / name), "", "ends in the middle of a hunk: git will not apply it", "warning") for name in cut
    ]
    return SelfbenchTask(folder, task.definition, task.test_patch, task.gold_patch, (*task.warnings, *found))


def read(folder: Path) -> SelfbenchTask:
    """The three files of a folder; what the patches say is not looked at. Raises FaultsError for the definition."""
    definition, warnings = parse(content(folder / DEFINITION), str(folder / DEFINITION))
    return SelfbenchTask(
        folder, definition, content(folder / TEST_PATCH), content(folder / GOLD_PATCH), tuple(warnings)
    )


def content(path: Path) -> bytes:
    """A file's bytes. Raises FaultsError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FaultsError([Fault(str(path), "", f"cannot be read: {error.strerror}, expected a file")]) from error


def faults(task: SelfbenchTask) -> Iterator[Fault]:
    """The path rules that a task breaks, in the format's order and words."""
    for field, path in _task_paths(task.definition):
        if _leaves(path):
            yield Fault(str(task.folder / DEFINITION), field, f"task path escapes repository: {shown(path)}")
    for name, patch in _patches(task):
        yield from _patch_faults(patch, name, str(task.folder / name))


def _patches(task: SelfbenchTask) -> tuple[tuple[str, bytes], tuple[str, bytes]]:
    return (TEST_PATCH, task.test_patch), (GOLD_PATCH, task.gold_patch)


def _task_paths(definition: Definition) -> Iterator[tuple[str, str]]:
    """The folder and the held-out paths, with their fields; an absolute path stays what it is."""
    yield "workdir", definition.workdir
    for number, path in enumerate(definition.test_paths):
        absolute = path.startswith("/")
        yield f"testPaths.{number}", path if absolute else javascript.joined(definition.workdir, path)


def _patch_faults(patch: bytes, name: str, source: str) -> Iterator[Fault]:
    if not patch.startswith(diffs.START):
        yield Fault(source, "", f"{name} is not a Git patch")
        return
    try:
        sections = diffs.sections(patch)
    except RefusedError as error:
        yield Fault(source, "", f"{error}, expected a name as git quotes it")
        return
    if not sections and name == TEST_PATCH:
        yield Fault(source, "", f"{name} changes no files")
    for path in (path for section in sections for path in section.named):
        if _leaves(path):
            yield Fault(source, "", f"{name.replace('.', ' ')} path escapes repository: {shown(path)}")


def _leaves(path: str) -> bool:
    """Whether a path is absolute, leads out of the repository, or into git's own folder."""
    normal = javascript.joined(path)
    return normal.startswith("/") or any(part == ".." or part.lower() == ".git" for part in normal.split("/"))
