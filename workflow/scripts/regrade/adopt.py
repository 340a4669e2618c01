"""Taking over results that came without Snakemake's metadata: a copy, a clone, somebody else's archive.

Without metadata Snakemake sees only time stamps. What says by its own digests that it was made from what the plan
names is kept, and Snakemake is told so; everything else, all that was made from it, and every summary goes.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from regrade import files
from regrade.errors import RegradeError
from regrade.plan import Plan, Trial

_BATCH = 500


class Adopted(NamedTuple):
    """Files that were kept, and files that were removed."""

    kept: list[Path]
    removed: list[Path]


def adopt(plan: Plan, snakemake_arguments: list[str]) -> Adopted:
    """Sort out a results folder by digest, and have Snakemake record what was kept. Asks no model."""
    trials = [trial for arm in plan.config.arms for trial in _all_trials(plan, arm)]
    kept: list[Path] = []
    removed: list[Path] = []
    for task in dict.fromkeys(trial.task for trial in trials):
        paths = plan.task_paths(task)
        fits = paths.pristine.is_dir() and _read(paths.inputs).get("made_from") == plan.inputs_digest(task)
        _sort(paths.inputs, fits, kept, removed)
    for trial in trials:
        place = plan.paths(trial)
        fits = plan.task_paths(trial.task).inputs in kept and _trial_fits(plan, trial)
        _sort(place.outcome, fits, kept, removed)
        _sort(place.patch, fits, kept, removed)
        _sort(place.grade, fits and _grade_fits(plan, trial), kept, removed)
    for summary in _made_from_grades(plan.results):
        _sort(summary, False, kept, removed)
    _record(kept, snakemake_arguments)
    return Adopted(kept, removed)


def _all_trials(plan: Plan, arm: str) -> Iterator[Trial]:
    for task in plan.sound_tasks():
        for repetition in range(1, plan.config.repetitions_of(arm) + 1):
            yield Trial(task, arm, repetition)


def _trial_fits(plan: Plan, trial: Trial) -> bool:
    place = plan.paths(trial)
    outcome = _read(place.outcome)
    whole = place.patch.exists() and (place.workspace.is_dir() or outcome.get("status") != "ok")
    return whole and outcome.get("digests", {}).get("trial") == plan.trial_spec(trial)["digest"]


def _grade_fits(plan: Plan, trial: Trial) -> bool:
    made_from = _read(plan.paths(trial).grade).get("digests", {})
    planned = {**plan.grade_digests(trial), "trial": plan.trial_spec(trial)["digest"]}
    return all(made_from.get(name) == digest for name, digest in planned.items())


def _read(path: Path) -> dict[str, Any]:
    """A JSON object, or an empty one if the file is missing or torn."""
    try:
        value = files.read_json(path)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _sort(path: Path, fits: bool, kept: list[Path], removed: list[Path]) -> None:
    if fits and path.exists():
        kept.append(path)
    elif path.exists():
        path.unlink()
        removed.append(path)


def _made_from_grades(results: Path) -> Iterator[Path]:
    """Records, tables and summaries of runs and sets, and the reports on graders."""
    for name in ("run.jsonl", "hardware.json", "summary.md"):
        yield from results.glob(f"runs/*/*/*/{name}")
    for name in ("records.jsonl", "records.csv", "summary.md"):
        yield from results.glob(f"*/{name}")
    yield from results.glob("checks/*.md")


def _record(kept: list[Path], snakemake_arguments: list[str]) -> None:
    for batch in _batches(kept):
        command = [sys.executable, "-m", "snakemake", "--cores", "1", *snakemake_arguments, "--quiet", "all"]
        done = subprocess.run([*command, "--touch", "--force", "--", *map(str, batch)], stdout=sys.stderr, check=False)
        if done.returncode:
            raise RegradeError("snakemake --touch --force on the kept files failed; its message stands above")


def _batches(paths: list[Path]) -> Iterable[list[Path]]:
    for start in range(0, len(paths), _BATCH):
        yield paths[start : start + _BATCH]
