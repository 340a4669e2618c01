"""Stage `records`: grades to rows, for one run directory or for one set.

    python -m regrade.records run ARM FORMAT COLLECTION SPEC CONFIG
    python -m regrade.records set NAME SPEC CONFIG

Each row is built from the trial's outcome and its grade, after both were held against the plan: a grade that was not
made by the grader, the code or the trial that the plan names is refused by name.
"""

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from regrade import files, hardware
from regrade.answers import Answers
from regrade.config import Config
from regrade.errors import StaleError, ending_in_one_line
from regrade.layout import RunPaths, TrialPaths
from regrade.models import prices
from regrade.models.types import Usage
from regrade.packs import host_label, run_metadata
from regrade.packs import rows as pack_rows
from regrade.packs.measured import find
from regrade.packs.outcome import outcome as measured_outcome
from regrade.plan import Plan, Selection, Trial
from regrade.record import record


def main(arguments: list[str]) -> None:
    """Write the records of a run (run.jsonl, hardware.json) or of a set (records.jsonl, records.csv)."""
    plan = Plan(Config(**json.loads(arguments[-1])))
    if arguments[0] == "run":
        arm, format_, collection = arguments[1:4]
        _write_run(plan, RunPaths(plan.results, arm, format_, collection))
    else:
        folder = plan.results / arguments[1]
        trials, asked = plan.trials_of_set(arguments[1]), plan.selections_of_set(arguments[1])
        found = records(plan, trials, asked)
        files.write_jsonl(folder / "records.jsonl", found)
        files.write_text(folder / "records.csv", as_csv(found))


def _write_run(plan: Plan, run: RunPaths) -> None:
    trials = plan.trials_of_run(run.arm, run.format, run.collection)
    asked = [Selection(run.arm, collection=run.collection)] if run.format == "suite" else []
    found = records(plan, trials, asked)
    machine = hardware.describe(plan.config.host_label)
    machine.setdefault("host_label", host_label.from_hostname(machine["hostname"]))
    files.write_json(run.folder / "hardware.json", machine)
    if run.format == "benchpack":
        _write_metadata(plan, run.folder / "run-metadata.json")
        found = [_pack_row(plan, trial, row) for trial, row in zip(trials, found, strict=True)]
    files.write_jsonl(run.folder / "run.jsonl", found)


def _write_metadata(plan: Plan, path: Path) -> None:
    path.unlink(missing_ok=True)
    if plan.config.run_metadata:
        files.write_text(path, run_metadata.to_text(run_metadata.load(Path(plan.config.run_metadata))))


def records(plan: Plan, trials: Iterable[Trial], asked: Iterable[Selection] = ()) -> list[dict[str, Any]]:
    """The rows of some trials, in their order; `asked` holds those that were asked in shards.

    Raises StaleError naming every trial whose files are not the plan's.
    """
    answers = Answers(plan, asked)
    rows, stale = [], []
    for trial in trials:
        for of, path, outcome, grade in _results(plan, trial, answers):
            planned = plan.planned_digests(of)
            differing = [name for name, digest in planned.items() if grade["digests"].get(name) != digest]
            if differing:
                stale.append(f"{path}: {of.name}: was made from another {', '.join(differing)}")
            rows.append(_record(plan, of, outcome, grade))
    if stale:
        stale.append("Run `regrade adopt` on the results folder, then the same snakemake command again.")
        raise StaleError("\n".join(stale))
    return rows


Result = tuple[Trial, Path, dict[str, Any], dict[str, Any]]
"""A trial, the file of its verdict, how it went, and the verdict."""


def _results(plan: Plan, trial: Trial, answers: Answers) -> Iterator[Result]:
    """The result of a trial; of a data set those of its rows."""
    paths = plan.paths(trial)
    if trial.task.format == "suite" and not trial.task.source.is_loop:
        yield from answers.of(trial)
        return
    grade = files.read_json(paths.grade)
    if trial.task.format == "benchpack":
        measured, session = find(paths.measured, trial.repetition), _session(paths)
        asked = "model" in plan.config.arms[trial.arm]
        yield trial, paths.grade, measured_outcome(measured, session, asked=asked), grade
    else:
        yield trial, paths.grade, files.read_json(paths.outcome), grade


def _record(plan: Plan, trial: Trial, outcome: dict[str, Any], grade: dict[str, Any]) -> dict[str, Any]:
    arm = plan.config.arms[trial.arm]
    model = plan.config.models[arm["model"]] if "model" in arm else None
    asked = {"model": model["model"] if model else None, "harness": plan.of(trial.task.format).harness(trial)}
    was_asked = outcome["turns"] > 0 or not (grade["status"] == "not_run" or grade["reason"] == "inputs_error")
    return record(trial, asked, outcome, grade, _cost(arm, model, outcome["tokens"]) if was_asked else 0.0)


def _cost(arm: dict[str, Any], model: dict[str, Any] | None, tokens: dict[str, Any]) -> float | None:
    """US dollars by the model's price list: unknown when a price or a count is, or who an agent asked."""
    if model:
        return prices.cost_usd(model.get("prices"), Usage(**tokens))
    return None if arm["harness"] == "external-agent" else 0.0


def _session(paths: TrialPaths) -> dict[str, Any] | None:
    return files.read_json(paths.outcome) if paths.outcome.exists() else None


def _pack_row(plan: Plan, trial: Trial, row: dict[str, Any]) -> dict[str, Any]:
    """A run.jsonl row as readers of packs expect it, with the record in its object `regrade`."""
    paths, source = plan.paths(trial), trial.task.source
    measured = find(paths.measured, trial.repetition)
    if measured is None or row["status"] == "not_run":
        return pack_rows.not_run(source.pack, source.case, row)
    verify = files.read_json(paths.verdict) if paths.verdict.exists() else None
    repetitions = plan.config.repetitions_of(trial.arm, trial.task.repetitions)
    grade = files.read_json(paths.grade)
    return pack_rows.row(
        source.pack, source.case, repetitions, measured, grade, row, session=source.is_repo_task, verify=verify
    )


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The same records as a table: dotted names for nested fields, JSON for lists, empty for unknown."""
    flat = [dict(_flatten(row, "")) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    text = io.StringIO()
    # Every text is quoted: a lone carriage return would end a row for most readers.
    writer = csv.DictWriter(text, names, lineterminator="\n", restval="", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


_SANDBOX = ("mode", "bounds", "in_process")


def _flatten(value: dict[str, Any], prefix: str) -> Iterable[tuple[str, Any]]:
    for key, item in value.items():
        if isinstance(item, dict):
            yield from _flatten(item, f"{prefix}{key}.")
        elif item is None and key == "sandbox":
            yield from ((f"sandbox.{name}", "") for name in _SANDBOX)
        else:
            yield f"{prefix}{key}", json.dumps(item) if isinstance(item, list | bool) else item


if __name__ == "__main__":
    with ending_in_one_line("the records"):
        main(sys.argv[1:])
