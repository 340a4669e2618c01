"""Look for faults in tasks, packs, suites and sets. Prints a line for each: path: field: message.

Warnings alone end with 0.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from regrade import sets
from regrade.errors import Fault, FaultsError, UsageError
from regrade.files import to_json
from regrade.formats import artifact, benchpack, selfbench, suite
from regrade.formats.artifact.check import check_task
from regrade.formats.artifact.load import load_folders
from regrade.formats.artifact.task import MANIFEST, absolute
from regrade.formats.benchpack.check import check_pack
from regrade.formats.benchpack.pack import MANIFEST as PACK_MANIFEST
from regrade.formats.selfbench.check import check_folder
from regrade.formats.selfbench.load import DEFINITION
from regrade.formats.suite.check import check_suites, is_suite
from regrade.slugs import slugs

SKIPPED = {"__pycache__", "node_modules", "results"}
"""Folders that are not searched, beside hidden ones."""


class _Found(NamedTuple):
    """What there is to check: folders of tasks and packs, files of suites and of sets, folders of SelfBench tasks."""

    tasks: list[Path]
    packs: list[Path]
    suites: list[Path]
    sets: list[Path]
    selfbench: list[Path]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "paths", type=Path, nargs="+", metavar="PATH",
        help="a task's or pack's folder or manifest, a suite (*.yaml), a set (*.txt), or a folder with such below it",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print each fault as a JSON object")
    parser.add_argument(
        "--tasks-dir", type=Path, default=Path("problems/artifact"), metavar="DIR",
        help="where the tasks lie that a set names (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--packs-dir", type=Path, default=Path("benchpacks"), metavar="DIR",
        help="where the packs lie that a set names (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--suites-dir", type=Path, default=Path("problems/suites"), metavar="DIR",
        help="where the suites lie that a set names (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--selfbench-dir", type=Path, default=Path("problems/selfbench"), metavar="DIR",
        help="where the SelfBench tasks lie that a set names (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Exit code 0, or 1 if there is any fault. Raises UsageError for a path that holds nothing to check."""
    found = _gather(args.paths)
    faults = [
        *_check_tasks(found.tasks),
        *_check_packs(found.packs),
        *check_suites(found.suites),
        *(fault for folder in found.selfbench for fault in check_folder(folder)),
        *_check_sets(found.sets, args),
    ]
    for fault in faults:
        print(to_json(asdict(fault)) if args.json else fault)
    severe = sum(fault.severity == "fault" for fault in faults)
    packs = f"{len(found.packs)} packs, " if found.packs else ""
    suites = f"{len(found.suites)} suites, " if found.suites else ""
    counts = f"{len(found.tasks) + len(found.selfbench)} tasks, {packs}{suites}{len(found.sets)} sets"
    print(f"checked: {counts}, {severe} faults, {len(faults) - severe} warnings", file=sys.stderr)
    return 1 if severe else 0


def _gather(paths: list[Path]) -> _Found:
    """What the paths name or hold, each once."""
    kinds: tuple[dict[Path, Path], ...] = ({}, {}, {}, {}, {})
    for path in paths:
        found = _look(path)
        if not any(found):
            raise UsageError(
                f"No matching tasks: {path} holds no {MANIFEST}, no {PACK_MANIFEST}, no {DEFINITION}, "
                "no suite (*.yaml) and no set"
            )
        for kind, items in zip(kinds, found, strict=True):
            kind |= {absolute(item): item for item in items}
    return _Found(*(list(kind.values()) for kind in kinds))


def _look(path: Path) -> _Found:
    if path.is_dir():
        return _search(path)
    if not path.exists():
        raise UsageError(f"{path}: does not exist, expected a task, a pack, a set, or a folder of them")
    if path.name == MANIFEST and not is_suite(path):
        return _Found([path.parent], [], [], [], [])
    if path.name == PACK_MANIFEST:
        return _Found([], [path.parent], [], [], [])
    if path.name == DEFINITION:
        return _Found([], [], [], [], [path.parent])
    if path.suffix == ".yaml":
        return _Found([], [], [path], [], [])
    if path.suffix == ".txt":
        return _Found([], [], [], [path], [])
    raise UsageError(
        f"{path}: is neither a {MANIFEST} nor a {PACK_MANIFEST} nor a {DEFINITION} "
        "nor a suite (*.yaml) nor a set (*.txt)"
    )


def _search(root: Path) -> _Found:
    """What lies in a folder. One with a grader is a task, also without a manifest; nothing is sought inside a pack.

    Suites are the *.yaml files directly in the folder that is asked about, and in any called `suites`.
    """
    found = _Found([], [], [], [], [])
    for place, folders, names in os.walk(root):
        folder = Path(place)
        if PACK_MANIFEST in names:
            folders.clear()
            found.packs.append(folder)
        elif _is_task(folder, names):
            folders.clear()
            found.tasks.append(folder)
        elif DEFINITION in names:
            folders.clear()
            found.selfbench.append(folder)
        elif folder.resolve().name == "suites" or (folder == root and _holds_suites(folder, names)):
            folders.clear()
            found.suites.extend(folder / name for name in sorted(names) if name.endswith(".yaml"))
        elif folder.resolve().name == "sets":
            found.sets.extend(folder / name for name in sorted(names) if name.endswith(".txt"))
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
    return found


def _is_task(folder: Path, names: list[str]) -> bool:
    return (MANIFEST in names and not is_suite(folder / MANIFEST)) or (folder / "grader" / "hidden.py").exists()


def _holds_suites(folder: Path, names: list[str]) -> bool:
    """Whether any YAML file in a folder is a suite: others are a configuration's, a schema's, a service's."""
    return any(is_suite(folder / name) for name in names if name.endswith(".yaml") and not name.startswith("."))


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


def _check_packs(folders: list[Path]) -> Iterator[Fault]:
    """Faults of packs, and what is to be said about sound ones. Ids must differ among packs with one folder above."""
    trees: dict[Path, list[Path]] = {}
    for folder in folders:
        trees.setdefault(absolute(folder).parent, []).append(folder)
    for tree in trees.values():
        loaded = benchpack.load_folders(tree)
        yield from loaded.all_faults()
        for pack in loaded.packs.values():
            yield from check_pack(pack)


def _check_sets(set_files: list[Path], args: argparse.Namespace) -> Iterator[Fault]:
    if not set_files:
        return
    suites = suite.load_all(args.suites_dir)
    known = {
        "artifact": {name: name.split("__", 1)[0] for name in artifact.discover(args.tasks_dir)},
        "benchpack": {name: name.split("/", 1)[0] for name in benchpack.load_all(args.packs_dir).ids},
        "suite": {task.id: task.stem for task in suites.tasks.values()} | dict.fromkeys(suites.faults, ""),
        "selfbench": _selfbench_ids(args.selfbench_dir),
    }
    for path in set_files:
        try:
            sets.read_set(path, known)
        except FaultsError as error:
            yield from error.faults


def _selfbench_ids(tasks_dir: Path) -> dict[str, str]:
    """Every task's id with the slug of its repository."""
    loaded = selfbench.load_all(tasks_dir)
    of = slugs({task.definition.repo for task in loaded.tasks.values()})
    return {name: of[task.definition.repo] for name, task in loaded.tasks.items()} | dict.fromkeys(loaded.faults, "")
