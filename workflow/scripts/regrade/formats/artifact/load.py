"""All tasks below a folder laid out as <category>/<slug>/task.yaml: the sound ones, and the others' faults."""

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regrade.config import CATEGORIES
from regrade.errors import Fault, FaultsError, UsageError
from regrade.formats.artifact.task import MANIFEST, ArtifactTask, build, examine, names
from regrade.nearest import nearest


@dataclass(frozen=True)
class Loaded:
    """Sound tasks and the faults of the others, both by id and sorted by it. A task with a fault stands only in
    `faults`, under the id that its place says, so that it stops nothing but what needs it."""

    tasks: dict[str, ArtifactTask]
    faults: dict[str, list[Fault]]

    def all_faults(self) -> list[Fault]:
        """Every fault, task by task."""
        return [fault for faults in self.faults.values() for fault in faults]


def discover(tasks_dir: Path) -> dict[str, Path]:
    """Task folders by the id that their place says, sorted; none if the folder is not there. Nothing is parsed."""
    return {id_of_place(folder): folder for folder in sorted(_folders(tasks_dir))}


def id_of_place(folder: Path) -> str:
    """`<category>__<slug>` of a task folder."""
    return "__".join(names(folder))


def _folders(tasks_dir: Path) -> Iterator[Path]:
    for category in _subfolders(tasks_dir):
        for folder in _subfolders(category):
            if os.path.lexists(folder / MANIFEST):
                yield folder


def _subfolders(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and entry.is_dir():
                yield folder / entry.name


def load_all(tasks_dir: Path, categories: Collection[str] = CATEGORIES) -> Loaded:
    """Every task below a folder. Never raises for a fault in a task."""
    return load_folders(sorted(_folders(tasks_dir)), categories)


def load_folders(folders: Iterable[Path], categories: Collection[str] = CATEGORIES) -> Loaded:
    """The tasks in these folders, which are taken for one collection: an id may stand in one of them only."""
    tasks: dict[str, ArtifactTask] = {}
    faults: dict[str, list[Fault]] = {}
    claims: dict[str, list[Path]] = {}
    for folder in folders:
        value, found = examine(folder, categories)
        if isinstance(value, dict) and isinstance(value.get("instance_id"), str):
            claims.setdefault(value["instance_id"], []).append(folder)
        if found:
            faults.setdefault(id_of_place(folder), []).extend(found)
        else:
            tasks[id_of_place(folder)] = build(value, folder)
    for identifier, claimants in claims.items():
        for place, fault in _duplicates(identifier, claimants):
            tasks.pop(place, None)
            faults.setdefault(place, []).append(fault)
    return Loaded(dict(sorted(tasks.items())), dict(sorted(faults.items())))


def _duplicates(identifier: str, folders: list[Path]) -> Iterator[tuple[str, Fault]]:
    """The faults of an id that several folders claim. The one that bears its name is not to blame for a copy."""
    if len(folders) == 1:
        return
    blamed = [folder for folder in folders if id_of_place(folder) != identifier] or folders
    for folder in blamed:
        others = " and ".join(str(other / MANIFEST) for other in folders if other != folder)
        message = f"duplicate id {identifier!r}, also in {others}: expected each id once"
        yield id_of_place(folder), Fault(str(folder / MANIFEST), "instance_id", message)


def pick(loaded: Loaded, wanted: Iterable[str], place: Path) -> list[ArtifactTask]:
    """The tasks with these ids, or all if none is named, sorted by id.

    Raises FaultsError if one of them is faulty, UsageError if an id is unknown or there is no task at all.
    """
    known = {*loaded.tasks, *loaded.faults}
    ids = sorted(set(wanted)) or sorted(known)
    unknown = [identifier for identifier in ids if identifier not in known]
    if unknown or not ids:
        about = ", ".join(f"{identifier!r}{nearest(identifier, known)}" for identifier in unknown)
        raise UsageError(f"No matching tasks in {place}: {about or 'expected <category>/<slug>/task.yaml below it'}")
    faults = [fault for identifier in ids for fault in loaded.faults.get(identifier, [])]
    if faults:
        raise FaultsError(faults)
    return [loaded.tasks[identifier] for identifier in ids]
