"""What `regrade check` says of suites beyond the faults that loading finds."""

from collections.abc import Iterator
from pathlib import Path

from regrade.errors import Fault, FaultsError
from regrade.formats.suite import oracle
from regrade.formats.suite.load import Loaded, load_files

_BESIDE = ("oracle", "fixtures", "images")
"""Folders beside task files that hold no task files."""


def check_suites(paths: list[Path]) -> Iterator[Fault]:
    """Faults and warnings of files of tasks, and of what lies around them. Ids must differ in one folder."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        folders.setdefault(path.parent, []).append(path)
    for folder, files in folders.items():
        loaded = load_files([path for path in files if path.suffix == ".yaml"])
        yield from loaded.all_faults()
        yield from (
            Fault(str(path), "", "is not read, expected *.yaml", "warning") for path in files if path.suffix == ".yml"
        )
        yield from _below(folder)
        yield from _references(folder, loaded)


def _below(folder: Path) -> Iterator[Fault]:
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and path.name not in _BESIDE):
        if any(inner.glob("*.yaml")):
            said = "holds *.yaml files that are not read: tasks stand directly in the suites' folder"
            yield Fault(str(inner), "", said, "warning")


def _references(folder: Path, loaded: Loaded) -> Iterator[Fault]:
    """Reference answers that cannot be read, or that answer no task."""
    known: dict[str, set[str]] = {path.stem: set() for path in loaded.files}
    for task in loaded.tasks.values():
        known[task.stem].add(task.id)
    for stem, ids in known.items():
        path = oracle.path_of(folder, stem)
        try:
            references = oracle.load(path)
        except FaultsError as error:
            yield from error.faults
            continue
        datasets = [task.id for task in loaded.tasks.values() if task.stem == stem and task.is_dataset]
        for name in references:
            if name not in ids and name not in loaded.faults and not any(name.startswith(f"{of}_") for of in datasets):
                yield Fault(str(path), name, f"answers no task of {stem}.yaml, expected the id of one")
