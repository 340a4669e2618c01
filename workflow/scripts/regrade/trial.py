"""Stage `trial`: one arm works on one task once, on a workspace of its own.

    python -m regrade.trial SPEC CONFIG      both JSON, as the rule hands them over

Writes task/<case>/rep-NNN.trial.json and patch/<case>/rep-NNN.diff last; whatever happens to the model's server, to
the sandbox or to the disk is an `error` in there, not a failed job.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regrade import __version__, files, harnesses, usage, workspace
from regrade.config import Config
from regrade.errors import RegradeError, SandboxError
from regrade.layout import RunPaths, TaskPaths, TrialPaths
from regrade.patches.capture import capture


def main(spec_text: str, config_text: str) -> None:
    """Run the stage for one specification (plan.trial_spec) under one configuration."""
    spec, config = json.loads(spec_text), Config(**json.loads(config_text))
    task, results = spec["task"], config.folder("results")
    shared = TaskPaths(results, "artifact", task["collection"], task["case"])
    run = RunPaths(results, spec["arm"]["name"], "artifact", task["collection"])
    paths = run.trial(task["case"], spec["repetition"])
    _clear(paths)
    inputs = files.read_json(shared.inputs)
    if inputs["status"] == "ok":
        outcome = _attempt(spec, config, paths, shared.pristine, inputs["files"])
    else:
        acted = harnesses.Acted(reason=inputs["reason"], message=inputs["message"])
        outcome = _outcome(spec, config, acted, workspace.Frozen("", []))
    _write(spec, paths, outcome)


def _clear(paths: TrialPaths) -> None:
    """Remove what an earlier or a killed trial left, except the history of its errors."""
    for folder in (paths.workspace, *paths.workspace.parent.glob(f".{paths.rep}.*")):
        workspace.remove(folder)
    for kind in ("request.json", "response.json", "calls.jsonl"):
        for single in (True, False):
            if not single or paths.rep == "rep-001":
                paths.raw(kind, single).unlink(missing_ok=True)
    for name in ("stdout.log", "stderr.log", "transcript.jsonl"):
        paths.log(name).unlink(missing_ok=True)


def _attempt(
    spec: dict[str, Any], config: Config, paths: TrialPaths, pristine: Path, manifest: dict[str, Any]
) -> dict[str, Any]:
    """Work in a folder of its own, and give it the trial's name when all is done."""
    harness = harnesses.load(spec["arm"]["harness"])
    place = paths.workspace.with_name(f".{paths.rep}.working")
    try:
        place.mkdir(parents=True)
        prepare = workspace.copy_inputs if harness.WRITES_IN_PLACE else workspace.link_inputs
        prepare(pristine, place)
        acted = harness.run(harnesses.Context(spec, config, paths, place))
        frozen = workspace.freeze(place, pristine, manifest)
        files.write_bytes(paths.patch, capture(pristine, place))
        place.rename(paths.workspace)
    except (RegradeError, OSError) as error:
        acted, frozen = harnesses.Acted(reason=_reason(error), message=str(error)), workspace.Frozen("", [])
    return _outcome(spec, config, acted, frozen)


def _reason(error: Exception) -> str:
    if isinstance(error, SandboxError | OSError):
        return "sandbox_error"
    return getattr(error, "reason", "provider_error")


def _outcome(spec: dict[str, Any], config: Config, acted: harnesses.Acted, frozen: workspace.Frozen) -> dict[str, Any]:
    """The content of trial.json; docs/data_files.md explains each field."""
    from regrade.statuses import TABLE

    task, model = spec["task"], spec.get("model")
    status = TABLE[acted.reason].status if acted.reason else "ok"
    return {
        "schema_version": 1,
        "task": task["id"],
        "arm": spec["arm"]["name"],
        "model": model["model"] if model else None,
        "harness": spec["arm"]["harness"],
        "repetition": spec["repetition"],
        "status": status if status in ("error", "not_run") else "ok",
        "reason": acted.reason,
        "message": acted.message,
        "warnings": acted.warnings + [warning for response in acted.responses for warning in response.warnings],
        **usage.totals(acted.responses, acted.wall_s),
        "sandbox": acted.sandbox,
        "limits": {
            "max_code_runs": task["max_code_runs"],
            "max_wall_seconds": task["max_wall_seconds"],
            "enforced": bool(spec.get("enforce_budgets")),
        },
        "code_runs": acted.code_runs,
        "special_files": frozen.special_files,
        "digests": {
            "task": task["digest"],
            "request": acted.responses[0].digest if acted.responses else None,
            "work": frozen.digest or None,
            "trial": spec["digest"],
        },
        "attempt": spec["attempt"],
        "made_by": f"regrade {__version__}",
        "ended_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _write(spec: dict[str, Any], paths: TrialPaths, outcome: dict[str, Any]) -> None:
    if outcome["status"] == "error":
        row = {"stage": "trial", "digest": spec["digest"], "at": outcome["ended_at"]}
        files.append_jsonl(paths.errors, {**row, "reason": outcome["reason"], "message": outcome["message"]})
    if not paths.patch.exists():
        files.write_bytes(paths.patch, b"")
    files.write_json(paths.outcome, outcome)


if __name__ == "__main__":
    main(*sys.argv[1:])
