"""The record of a trial: one shape for every format; docs/data_files.md explains each field."""

from typing import Any

from regrade.formats.suite import SuiteTask
from regrade.plan import Trial

SCHEMA_VERSION = 1
_DIGESTS = ("task", "request", "work", "grader", "code")

NOTHING: dict[str, Any] = {
    "timing": dict.fromkeys(("wall_s", "ttft_s", "prefill_tps", "decode_tps", "total_tps")),
    "tokens": dict.fromkeys(("prompt", "output", "cached_prompt", "reasoning")),
    "turns": 0,
    "cached": False,
    "limits": {"max_code_runs": 0, "max_wall_seconds": 0, "enforced": False},
    "finish_reason": None,
    "warnings": [],
}
"""The outcome of a trial in which nothing was done."""


def record(
    trial: Trial, asked: dict[str, Any], outcome: dict[str, Any], grade: dict[str, Any], cost_usd: float | None
) -> dict[str, Any]:
    """One row, from how a trial went (`outcome`), its grade, and whom it asked (`asked`: model, harness)."""
    task = trial.task
    return {
        "schema_version": SCHEMA_VERSION,
        "task": task.id,
        "format": task.format,
        "collection": task.collection,
        "category": task.category,
        "difficulty": task.difficulty,
        "tags": list(task.tags),
        "arm": trial.arm,
        "model": asked["model"],
        "harness": asked["harness"],
        "repetition": trial.repetition,
        "status": grade["status"],
        "reason": grade["reason"] or None,
        "message": grade["message"] or None,
        "passed": grade["passed"],
        "score": grade["score"],
        "detail": grade["detail"],
        "timing": outcome["timing"],
        "tokens": outcome["tokens"],
        "cost_usd": cost_usd,
        "turns": outcome["turns"],
        "cached": outcome["cached"],
        "sandbox": grade["sandbox"] and {**grade["sandbox"], "in_process": grade["in_process"]},
        "limits": outcome["limits"],
        "digests": {name: grade["digests"].get(name) for name in _DIGESTS},
        "finish_reason": outcome["finish_reason"],
        "warnings": outcome["warnings"],
        "earlier": grade["earlier"],
        "suite": about_suite(task.source, outcome, grade) if task.format == "suite" else None,
    }


_NOT_PARAMETERS = ("model", "messages", "input", "stream", "stream_options")


def about_suite(source: SuiteTask, outcome: dict[str, Any], grade: dict[str, Any]) -> dict[str, Any]:
    """What the record of a suite task says beside: the task's labels, the parameters sent, what the scorer noted.

    What only loops and data sets have is left out of others.
    """
    request = outcome.get("request") or {}
    more = {"progress": grade.get("progress"), "dataset": source.fields.get("dataset_row")}
    return {
        **source.labels,
        "threshold": source.pass_threshold,
        "sent": {name: value for name, value in request.items() if name not in _NOT_PARAMETERS},
        "scored": grade.get("about") or {},
        **{name: value for name, value in more.items() if value is not None},
    }
