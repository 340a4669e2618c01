"""Look for faults in tasks and sets. Prints a line for each: path: field: message. Warnings alone end with 0."""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from regrade import sets
from regrade.errors import Fault, FaultsError, UsageError
from regrade.files import to_json
from regrade.formats import artifact
from regrade.formats.artifact.check import check_task
from regrade.formats.artifact.load import load_folders
from regrade.formats.artifact.task import MANIFEST, absolute

SKIPPED = {"__pycache__", "node_modules", "results"}
"""Folders that are not searched, beside hidden ones."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH",
        help="a task's folder or task.yaml, a set (*.txt), or a folder with such below it",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print each fault as a JSON object")
    parser.add_argument(
        "--tasks-dir", type=Path, default=Path("problems/artifact"), metavar="DIR",
        help="where the tasks lie that a set names (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Exit code 0, or 1 if there is any fault. Raises UsageError for a path that holds nothing to check."""
    folders, set_files = _gather(args.paths)
    faults = [*_check_tasks(folders), *_check_sets(set_files, args.tasks_dir)]
    for fault in faults:
        print(to_json(asdict(fault)) if args.json else fault)
    severe = sum(fault.severity == "fault" for fault in faults)
    counts = f"{len(folders)} tasks, {len(set_files)} sets, {severe} faults, {len(faults) - severe} warnings"
    print(f"checked: {counts}", file=sys.stderr)
    return 1 if severe else 0


def _gather(paths: list[Path]) -> tuple[list[Path], list[Path]]:
    """The task folders and set files that the paths name or hold, each once."""
    folders: dict[Path, Path] = {}
    set_files: dict[Path, Path] = {}
    for path in paths:
        tasks, texts = _look(path)
        if not tasks and not texts:
            raise UsageError(f"No matching tasks: {path} holds no {MANIFEST} and no set")
        folders |= {absolute(folder): folder for folder in tasks}
        set_files |= {absolute(file): file for file in texts}
    return list(folders.values()), list(set_files.values())


def _look(path: Path) -> tuple[list[Path], list[Path]]:
    if path.is_dir():
        found = list(_search(path))
        return [item for item in found if item.suffix != ".txt"], [item for item in found if item.suffix == ".txt"]
    if not path.exists():
        raise UsageError(f"{path}: does not exist, expected a task, a set, or a folder of them")
    if path.name == MANIFEST:
        return [path.parent], []
    if path.suffix == ".txt":
        return [], [path]
    raise UsageError(f"{path}: is neither a {MANIFEST} nor a set (*.txt)")


def _search(root: Path) -> Iterator[Path]:
    """Task folders and set files below a folder. A folder with a grader is a task, also without a manifest."""
    for place, folders, names in os.walk(root):
        folder = Path(place)
        if MANIFEST in names or (folder / "grader" / "hidden.py").exists():
            folders.clear()
            yield folder
        elif folder.resolve().name == "sets":
            yield from (folder / name for name in sorted(names) if name.endswith(".txt"))
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))


def _check_tasks(folders: list[Path]) -> Iterator[Fault]:
    """Faults of manifests, and of sound ones' tasks. Ids must differ among tasks with one folder above."""
    trees: dict[Path, list[Path]] = {}
    for folder in folders:
        trees.setdefault(absolute(folder).parents[1], []).append(folder)
    for tree in trees.values():
        loaded = load_folders(tree)
        yield from loaded.all_faults()
        for task in loaded.tasks.values():
            yield from check_task(task)


def _check_sets(set_files: list[Path], tasks_dir: Path) -> Iterator[Fault]:
    known = {"artifact": list(artifact.discover(tasks_dir))} if set_files else {}
    for path in set_files:
        try:
            sets.read_set(path, known)
        except FaultsError as error:
            yield from error.faults
