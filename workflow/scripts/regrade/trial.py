"""Stage `trial`: one arm works on one task once, on a workspace of its own.

    python -m regrade.trial SPEC CONFIG      both JSON, as the rule hands them over

Writes task/<case>/rep-NNN.trial.json and patch/<case>/rep-NNN.diff last; whatever happens to the model's server, to
the sandbox or to the disk is an `error` in there, not a failed job.
"""

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regrade import __version__, files, harnesses, specification, usage, workspace
from regrade.config import Config
from regrade.errors import BudgetSpent, InputsError, NotApplicable, RegradeError, SandboxError
from regrade.held_out import app
from regrade.held_out.prepared import Prepared
from regrade.layout import RunPaths, TaskPaths, TrialPaths
from regrade.patches.snapshot import capture
from regrade.statuses import status_of

NOTHING = workspace.Frozen("", [])


def main(spec_text: str, config_text: str) -> None:
    """Run the stage for one specification (trial_spec of a format's plan) under one configuration."""
    spec, config = specification.read(spec_text), Config(**json.loads(config_text))
    task, results = spec["task"], config.folder("results")
    shared = TaskPaths(results, spec["format"], task["collection"], task["case"])
    run = RunPaths(results, spec["arm"]["name"], spec["format"], task["collection"])
    paths = run.trial(task["case"], spec["repetition"])
    inputs = files.read_json(shared.inputs)
    acted, frozen = harnesses.Acted(), NOTHING
    acted.reason, acted.message = _in_the_way(spec, inputs)
    if "gate" in spec and (acted.reason or _is_kept(spec, paths)):
        # Only the gates were tried again: what an agent did stands, or waits until they let it through.
        _keep(spec, paths, shared.pristine, acted, config.budget_usd)
        return
    _clear(paths)
    if not acted.reason:
        frozen = _attempt(spec, config, paths, shared.pristine, inputs["files"], acted)
    _write(spec, paths, outcome_of(spec, acted, frozen), config.budget_usd)


def _in_the_way(spec: dict[str, Any], inputs: dict[str, Any]) -> tuple[str, str]:
    """Why the trial is not made: the arm, the inputs, or the task's gates; two empty texts for nothing."""
    if "skip" in spec:
        return "not_applicable", spec["skip"]
    found = inputs if inputs["status"] != "ok" or "gate" not in spec else files.read_json(Path(spec["gate"]))
    return found["reason"] or "", found["message"] or ""


def _is_kept(spec: dict[str, Any], paths: TrialPaths) -> bool:
    """Whether a trial was made of this very specification, and what it left lies there unchanged."""
    kept = files.recorded(paths.kept)
    made = kept.get("digests", {}).get("trial") == spec["digest"] and kept.get("attempt") == spec["attempt"]
    return made and kept.get("status") == "ok" and workspace.work_digest(paths.workspace) == kept["digests"]["work"]


def _keep(
    spec: dict[str, Any], paths: TrialPaths, pristine: Path, acted: harnesses.Acted, budget_usd: float | None
) -> None:
    """Write the outcome of a trial that was made before, or of one that is not made now."""
    if acted.reason:
        _write(spec, paths, outcome_of(spec, acted, NOTHING), budget_usd)
        return
    files.write_bytes(paths.patch, capture(pristine, paths.workspace))
    files.write_json(paths.outcome, files.recorded(paths.kept))


def _clear(paths: TrialPaths) -> None:
    """Remove what an earlier or a killed trial left, except the history of its errors."""
    for folder in (paths.workspace, *paths.workspace.parent.glob(f".{paths.rep}.*")):
        workspace.remove(folder)
    for kind in ("request.json", "response.json", "calls.jsonl"):
        for single in (True, False):
            if not single or paths.rep == "rep-001":
                paths.raw(kind, single).unlink(missing_ok=True)
    for path in (paths.log("transcript.jsonl"), paths.patch, paths.outcome):
        path.unlink(missing_ok=True)


def _attempt(
    spec: dict[str, Any],
    config: Config,
    paths: TrialPaths,
    pristine: Path,
    manifest: dict[str, Any],
    acted: harnesses.Acted,
) -> workspace.Frozen:
    """Work in a folder of its own, which gets the trial's name when all is done and is removed when that fails."""
    harness = harnesses.load(spec["harness"])
    place = paths.workspace.with_name(f".{paths.rep}.working")
    place.mkdir(parents=True)
    try:
        if spec["format"] == "selfbench":
            _work_in_repository(spec, config, paths, pristine, place, acted)
        else:
            prepare = workspace.copy_inputs if harness.WRITES_IN_PLACE else workspace.link_inputs
            prepare(pristine, place)
            harness.run(harnesses.Context(spec, config, paths, place), acted)
        frozen = workspace.freeze(place, pristine, manifest)
        files.write_bytes(paths.patch, capture(pristine, place))
        place.rename(paths.workspace)
        return frozen
    except (RegradeError, OSError) as error:
        acted.reason, acted.message = _reason(error, config), str(error)
        workspace.remove(place)
        return NOTHING


def _work_in_repository(
    spec: dict[str, Any], config: Config, paths: TrialPaths, pristine: Path, place: Path, acted: harnesses.Acted
) -> None:
    """Work in a copy of a repository with one commit; what was done to the repository itself is not kept.

    The task's own limits hold in the place of the configuration's.
    """
    task = spec["task"]
    own = {
        "trial_wall_s": task["agent_seconds"],
        "tool_memory_mb": task["memory_mb"],
        "workspace_mb": task["storage_mb"],
    }
    config = replace(config, limits={**config.limits, **own})
    place.rmdir()
    app.copy(pristine, place)
    app.copy(Prepared(pristine.parent).repository, place / ".git")
    try:
        harnesses.load(spec["harness"]).run(harnesses.Context(spec, config, paths, place), acted)
    finally:
        workspace.remove(place / ".git")


def _reason(error: Exception, config: Config) -> str:
    from regrade.store import StoreError

    for kind, reason in ((InputsError, "inputs_error"), (NotApplicable, "not_applicable"), (BudgetSpent, "budget")):
        if isinstance(error, kind):
            return reason
    # Where asking is forbidden a StoreError is an answer that nobody gave; elsewhere it is the disk.
    disk = isinstance(error, StoreError) and config.cache != "only"
    return "sandbox_error" if disk or isinstance(error, SandboxError | OSError) else "provider_error"


def outcome_of(spec: dict[str, Any], acted: harnesses.Acted, frozen: workspace.Frozen) -> dict[str, Any]:
    """The content of trial.json; docs/data_files.md explains each field."""
    task, model = spec["task"], spec.get("model")
    status = status_of(acted.reason) if acted.reason else "ok"
    said = [warning for response in acted.responses for warning in response.warnings]
    return {
        "schema_version": 1,
        "task": task["id"],
        "arm": spec["arm"]["name"],
        "model": model["model"] if model else None,
        "harness": spec["harness"],
        "repetition": spec["repetition"],
        "status": status if status in ("error", "not_run") else "ok",
        "reason": acted.reason,
        "message": acted.message,
        "warnings": list(dict.fromkeys(acted.warnings + said)),
        **usage.totals(acted.responses, acted.wall_s),
        "sandbox": acted.sandbox,
        "limits": {
            "max_code_runs": task["max_code_runs"],
            "max_wall_seconds": task["max_wall_seconds"],
            "enforced": bool(spec.get("enforce_budgets")),
        },
        "code_runs": acted.code_runs,
        **({"progress": acted.progress} if acted.progress else {}),
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


def _write(spec: dict[str, Any], paths: TrialPaths, outcome: dict[str, Any], budget_usd: float | None) -> None:
    """The outcome last. What may go away by itself, or with another machine, is noted so that it is tried again."""
    if outcome["status"] == "error" or outcome["reason"] in ("code_not_allowed", "budget"):
        row = {"stage": "trial", "digest": spec["digest"], "at": outcome["ended_at"]}
        more = {"budget_usd": budget_usd} if outcome["reason"] == "budget" else {}
        files.append_jsonl(paths.errors, {**row, "reason": outcome["reason"], "message": outcome["message"], **more})
    if not paths.patch.exists():
        files.write_bytes(paths.patch, b"")
    if "gate" in spec and outcome["status"] == "ok":
        files.write_json(paths.kept, outcome)
    files.write_json(paths.outcome, outcome)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
    except (RegradeError, OSError) as error:
        sys.exit(f"the trial's outcome cannot be written: {error}. Make room or mend the folder, and start again")
