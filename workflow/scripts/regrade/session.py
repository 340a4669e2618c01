"""Stage `session`: the task phase of one repetition of a pack's repo-task case, on a workspace of its own.

    python -m regrade.session SPEC CONFIG      both JSON, as the rule hands them over

SPEC:

    task        {"id": "<pack>/<case>", "digest"}
    pack        {"id", "version", "description"}
    case        {"id", "kind", "prompt", "fixture_refs", "harness": {"id", "timeout_s"?} or null}
    fixtures    [{"id", "kind", "path", "description"}, ...] all that the pack declares; source: the repository's id
    arm         {"name", "harness", ...}; `oracle` and `nop` answer in the place of the case's own harness
    adapter     {"id", "model", "endpoint", "defaults"} as the context file says them
    agent       {"argv", "env", "read"}, only where an external agent acts
    measured    the file of measured rows; the row of this repetition holds the answer
    repetition, digest, attempt

Reads the pristine repository, applies the answer or lets the agent act, and writes task/<case>/rep-NNN.{stdout,stderr}
.log, .context.json, patch/<case>/rep-NNN.diff and last task/<case>/rep-NNN.trial.json.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from regrade import external_agent, files, specification, trial, workspace
from regrade.config import ASKS_NOBODY, Config
from regrade.errors import RegradeError, ending_in_one_line
from regrade.harnesses import Acted
from regrade.layout import RunPaths, TaskPaths, TrialPaths
from regrade.packs.measured import row_of
from regrade.patches import apply, snapshot

OURS = ("sandbox_error", "inputs_error", "code_not_allowed")
"""What may go away by itself or on another machine, and is tried again."""


def main(spec_text: str, config_text: str) -> None:
    """Run the stage for one specification under one configuration."""
    spec, config = specification.read(spec_text), Config(**json.loads(config_text))
    results, pack, case = config.folder("results"), spec["pack"]["id"], spec["case"]["id"]
    shared = TaskPaths(results, "benchpack", pack, case)
    paths = RunPaths(results, spec["arm"]["name"], "benchpack", pack).trial(case, spec["repetition"])
    _clear(paths)
    inputs, row = files.read_json(shared.inputs), row_of(Path(spec["measured"]), spec["repetition"])
    acted, frozen = Acted(), trial.NOTHING
    if inputs["status"] == "ok":
        frozen = _attempt(spec, config, paths, row, shared.pristine, inputs["files"], acted)
    else:
        acted.reason, acted.message = inputs["reason"], inputs["message"]
    _note_answer(spec, row, acted)
    _write(spec, paths, _outcome(spec, row, acted, frozen))


def harness_of(spec: dict[str, Any]) -> str:
    """Who acts: `external-agent` where the case says so and the arm has a model, else `fenced-patch`."""
    if spec["arm"]["harness"] in ASKS_NOBODY:
        return "fenced-patch"
    return str((spec["case"]["harness"] or {}).get("id", "fenced-patch"))


def _clear(paths: TrialPaths) -> None:
    """Remove what an earlier or a killed session left, except the history of its errors."""
    for folder in (paths.workspace, *paths.workspace.parent.glob(f".{paths.rep}.*")):
        workspace.remove(folder)
    for path in (*map(paths.log, external_agent.FILES), paths.patch, paths.outcome):
        path.unlink(missing_ok=True)


def _attempt(
    spec: dict[str, Any],
    config: Config,
    paths: TrialPaths,
    row: dict[str, Any],
    pristine: Path,
    manifest: dict[str, Any],
    acted: Acted,
) -> workspace.Frozen:
    """Work in a folder of its own, which gets the trial's name when all is done and is removed when that fails."""
    place = paths.workspace.with_name(f".{paths.rep}.working")
    place.mkdir(parents=True)
    try:
        copy_repository(pristine, place)
        if harness_of(spec) == "external-agent":
            _let_agent_act(spec, config, paths, place, acted)
        else:
            _apply(spec, paths, place, row["text"], acted)
        frozen = workspace.freeze(place, pristine, manifest)
        patch = snapshot.capture(pristine, place)
        files.write_bytes(paths.patch, patch)
        place.rename(paths.workspace)
    except (RegradeError, OSError) as error:
        acted.reason, acted.message = "sandbox_error", str(error)
        workspace.remove(place)
        return trial.NOTHING
    if not patch and not acted.reason:
        acted.reason, acted.message = "empty_patch", "the workspace is as it was"
    return frozen


def copy_repository(source: Path, target: Path) -> None:
    """Copy a tree into an existing folder: real files that may be written, links as links, empty folders too."""
    for folder, folders, names in os.walk(source):
        inside = target / os.path.relpath(folder, source)
        workspace.make_folder(inside)
        for name in (*folders, *names):
            entry = Path(folder, name)
            if entry.is_symlink():
                (inside / name).symlink_to(os.readlink(entry))
            elif name in names:
                workspace.copy_file(entry, inside / name)


def _apply(spec: dict[str, Any], paths: TrialPaths, place: Path, answer: str, acted: Acted) -> None:
    timeout_s = (spec["case"]["harness"] or {}).get("timeout_s")
    applied = apply.apply_response(place, answer, timeout_s)
    files.write_text(paths.log("stdout.log"), applied.stdout)
    files.write_text(paths.log("stderr.log"), applied.stderr)
    acted.reason, acted.message = applied.reason, f"{applied.stderr}{applied.detail}".strip()


def _let_agent_act(spec: dict[str, Any], config: Config, paths: TrialPaths, place: Path, acted: Acted) -> None:
    agent = external_agent.Agent(**spec["agent"])
    timeout_s = spec["case"]["harness"].get("timeout_s")
    external_agent.run(external_agent.Assignment(agent, paths, place, about(spec), timeout_s), config, acted)


def about(spec: dict[str, Any]) -> dict[str, Any]:
    """The parts of the context file that come from the pack and the arm."""
    source = next(fixture for fixture in spec["fixtures"] if fixture["id"] == spec["source"])
    return {
        "pack": {name: spec["pack"][name] for name in ("id", "version", "description")},
        "case": {name: spec["case"][name] for name in ("id", "kind", "prompt", "fixture_refs", "harness")},
        "source": {"source_fixture_id": source["id"], "source_path": source["path"]},
        "adapter": spec["adapter"],
        "fixtures": spec["fixtures"],
    }


def _note_answer(spec: dict[str, Any], row: dict[str, Any], acted: Acted) -> None:
    """What the measured answer suggests, should the trial fail. An agent at work does not depend on that answer."""
    acted.warnings += row["warnings"]
    if not row["reason"] or acted.reason in OURS:
        return
    if harness_of(spec) == "external-agent":
        acted.warnings.append(f"the measured call beside the agent: {row['reason']}: {row['message']}")
    else:
        acted.reason, acted.message = row["reason"], row["message"]


def _write(spec: dict[str, Any], paths: TrialPaths, outcome: dict[str, Any]) -> None:
    """The outcome last. An answer that nobody gave is the measuring stage's to try again, all else is noted here."""
    if outcome["reason"] in OURS:
        row = {"stage": "session", "digest": spec["digest"], "at": outcome["ended_at"]}
        files.append_jsonl(paths.errors, {**row, "reason": outcome["reason"], "message": outcome["message"]})
    for path in (paths.patch, paths.log("stdout.log"), paths.log("stderr.log")):
        if not path.exists():
            files.write_bytes(path, b"")
    files.write_json(paths.outcome, outcome)


def _outcome(spec: dict[str, Any], row: dict[str, Any], acted: Acted, frozen: workspace.Frozen) -> dict[str, Any]:
    """The content of trial.json, with the numbers of the measured call."""
    budgets = {"max_code_runs": 0, "max_wall_seconds": 0}
    nobody = spec["arm"]["harness"] in ASKS_NOBODY
    harness = spec["arm"]["harness"] if nobody else harness_of(spec)
    outcome = trial.outcome_of({**spec, "harness": harness, "task": {**spec["task"], **budgets}}, acted, frozen)
    outcome["model"] = None if nobody else row["model"]
    outcome["turns"] = 0 if nobody else 1
    outcome["finish_reason"] = row["finish_reason"]
    for kind in ("timing", "tokens"):
        outcome[kind] = {name: row[kind].get(name) for name in outcome[kind]}
    outcome["digests"]["request"] = row["request"]
    return outcome


if __name__ == "__main__":
    with ending_in_one_line("the session's outcome"):
        main(*sys.argv[1:])
