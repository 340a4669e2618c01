"""Taking over results that came without Snakemake's metadata: a copy, a clone, somebody else's archive.

Without metadata Snakemake sees only time stamps. What says by its own digests that it was made from what the plan
names is kept, and Snakemake is told so; everything else, all that was made from it, and every summary goes.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from regrade.errors import RegradeError
from regrade.plan import Output, Plan, Selection

_BATCH = 500


class Adopted(NamedTuple):
    """Files that were kept, files that were removed, and why trials that cannot be planned here were left alone."""

    kept: list[Path]
    removed: list[Path]
    left_alone: list[str]


def adopt(plan: Plan, snakemake_arguments: list[str]) -> Adopted:
    """Sort out a results folder by digest, and have Snakemake record what was kept. Asks no model."""
    kept: dict[Path, None] = {}
    removed: list[Path] = []
    left_alone: list[str] = []
    for arm in plan.config.arms:
        for trial in plan.trials(arm, plan.sound_tasks()):
            try:
                outputs = plan.of(trial.task.format).outputs(trial)
            except RegradeError as error:
                left_alone.append(f"{trial.name}: {error}")
            else:
                _sort_stages(outputs, kept, removed)
    for selection, name in _answered(plan):
        trials, paths = plan.answered(selection, name)
        _sort_stages(plan.suite.answer_outputs(trials, paths), kept, removed)
    for summary in _made_from_grades(plan.results):
        _sort(summary, False, kept, removed)
    _record(list(kept), snakemake_arguments)
    return Adopted(list(kept), removed, left_alone)


def _answered(plan: Plan) -> Iterator[tuple[Selection, str]]:
    """The shards and data sets of suites that have answers here."""
    names = sorted(path.stem for path in plan.config.folder("sets").glob("*.txt"))
    sets = [name for name in names if (plan.results / name / "raw").is_dir()]
    for arm in plan.config.arms:
        runs = sorted({task.collection for task in plan.suite.tasks.values()})
        asked = [Selection(arm, set=name) for name in sets] + [Selection(arm, collection=name) for name in runs]
        for selection in asked:
            yield from ((selection, name) for name in plan.shards(selection))
        for task in plan.suite.tasks.values():
            if task.source.is_dataset and plan.suite.rows_path(task).exists():
                yield Selection(arm, collection=task.collection), f"dataset-{task.case}"


def _sort_stages(outputs: list[Output], kept: dict[Path, None], removed: list[Path]) -> None:
    """Keep the files of a trial or a shard from the first stage on, up to the first made from something else."""
    fits = True
    for output in outputs:
        fits = fits and (all(path in kept for path in output.files) or output.is_fresh())
        for path in output.files:
            _sort(path, fits, kept, removed)


def _sort(path: Path, fits: bool, kept: dict[Path, None], removed: list[Path]) -> None:
    if fits and path.exists():
        kept[path] = None
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
