"""Stage `records`: grades to rows, for one run directory or for one set.

    python -m regrade.records run ARM COLLECTION SPEC CONFIG
    python -m regrade.records set NAME SPEC CONFIG

Each row is built from the trial's outcome and its grade, after both were held against the plan: a grade that was not
made by the grader, the code or the trial that the plan names is refused by name.
"""

import csv
import io
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from regrade import files, hardware
from regrade.config import Config
from regrade.errors import RegradeError, StaleError
from regrade.layout import RunPaths
from regrade.models import prices
from regrade.models.types import Usage
from regrade.plan import Plan, Trial

SCHEMA_VERSION = 1


def main(arguments: list[str]) -> None:
    """Write the records of a run (run.jsonl, hardware.json) or of a set (records.jsonl, records.csv)."""
    plan = Plan(Config(**json.loads(arguments[-1])))
    if arguments[0] == "run":
        arm, collection = arguments[1:3]
        folder = RunPaths(plan.results, arm, "artifact", collection).folder
        rows = records(plan, plan.trials_of_run(arm, collection))
        files.write_json(folder / "hardware.json", hardware.describe())
        _write_rows(folder / "run.jsonl", rows)
    else:
        folder = plan.results / arguments[1]
        rows = records(plan, plan.trials_of_set(arguments[1]))
        _write_rows(folder / "records.jsonl", rows)
        files.write_text(folder / "records.csv", as_csv(rows))


def records(plan: Plan, trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """The rows of some trials, in their order. Raises StaleError naming every trial whose files are not the plan's."""
    rows, stale = [], []
    for trial in trials:
        paths = plan.paths(trial)
        outcome, grade = files.read_json(paths.outcome), files.read_json(paths.grade)
        planned = {"trial": plan.trial_spec(trial)["digest"], **plan.grade_digests(trial)}
        differing = [name for name, digest in planned.items() if grade["digests"].get(name) != digest]
        if differing or outcome["digests"]["trial"] != planned["trial"]:
            stale.append(f"{paths.grade}: {trial.name}: was made from another {', '.join(differing) or 'trial'}")
        rows.append(_record(plan, trial, outcome, grade))
    if stale:
        stale.append("Run `regrade adopt` on the results folder, then the same snakemake command again.")
        raise StaleError("\n".join(stale))
    return rows


def _record(plan: Plan, trial: Trial, outcome: dict[str, Any], grade: dict[str, Any]) -> dict[str, Any]:
    """One row; docs/data_files.md explains each field."""
    task = trial.task
    return {
        "schema_version": SCHEMA_VERSION,
        "task": task.id,
        "format": "artifact",
        "collection": task.category,
        "category": task.category,
        "difficulty": task.difficulty,
        "tags": list(task.tags),
        "arm": trial.arm,
        "model": outcome["model"],
        "harness": outcome["harness"],
        "repetition": trial.repetition,
        "status": grade["status"],
        "reason": grade["reason"] or None,
        "message": grade["message"] or None,
        "passed": grade["passed"],
        "score": grade["score"],
        "detail": grade["detail"],
        "timing": outcome["timing"],
        "tokens": outcome["tokens"],
        "cost_usd": _cost(plan, trial, outcome),
        "turns": outcome["turns"],
        "cached": outcome["cached"],
        "sandbox": grade["sandbox"] and {**grade["sandbox"], "in_process": grade["in_process"]},
        "limits": outcome["limits"],
        "digests": {name: grade["digests"].get(name) for name in ("task", "request", "work", "grader", "code")},
        "finish_reason": outcome["finish_reason"],
        "warnings": outcome["warnings"],
        "earlier": grade["earlier"],
    }


def _cost(plan: Plan, trial: Trial, outcome: dict[str, Any]) -> float | None:
    """US dollars by the model's price list; None when a price or a count is unknown, 0 when nobody was asked."""
    model = plan.config.arms[trial.arm].get("model")
    if model is None:
        return 0.0
    return prices.cost_usd(plan.config.models[model].get("prices"), Usage(**outcome["tokens"]))


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    files.write_text(path, "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows))


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The same records as a table: dotted names for nested fields, JSON for lists, empty for unknown."""
    flat = [dict(_flatten(row, "")) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


_NESTED = {
    "timing": ("wall_s", "ttft_s", "prefill_tps", "decode_tps", "total_tps"),
    "tokens": ("prompt", "output", "cached_prompt", "reasoning"),
    "sandbox": ("mode", "bounds", "in_process"),
}


def _flatten(value: dict[str, Any], prefix: str) -> Iterable[tuple[str, Any]]:
    for key, item in value.items():
        if isinstance(item, dict):
            yield from _flatten(item, f"{prefix}{key}.")
        elif item is None and key in _NESTED and not prefix:
            yield from ((f"{key}.{name}", "") for name in _NESTED[key])
        else:
            yield f"{prefix}{key}", json.dumps(item) if isinstance(item, list | bool) else item


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except RegradeError as error:
        sys.exit(str(error))
