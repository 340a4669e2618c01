"""Stage `snapshot`: the files of a SelfBench task's base commit, set up once; and a manifest that lists them.

    python -m regrade.held_out.snapshot SPEC CONFIG      both JSON, as the rule hands them over

SPEC (plan.selfbench.snapshot_spec): id, task (its folder), repository (a clone or a git bundle, null if the
configuration names none), network (whether the set-up has it), output, errors, digest, attempt. A task that cannot be
set up is an error in the manifest, not a failed job; one whose toolchain is missing here is not run.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from regrade import digests, files, sandbox, specification, workspace
from regrade.config import Config
from regrade.errors import InputsError, NotApplicable, RegradeError, SandboxError, ending_in_one_line
from regrade.formats import selfbench
from regrade.formats.selfbench import dependencies, diffs, redaction
from regrade.formats.selfbench.load import SelfbenchTask
from regrade.git import GitError, git
from regrade.held_out import app, base
from regrade.held_out.network import looks_like_network
from regrade.held_out.prepared import Prepared
from regrade.inputs.stage import SCHEMA_VERSION, seal
from regrade.statuses import status_of

PROGRAMS = {"uv": "uv", "bun": "bun", "go": "go", "node": "node", "python": "python3", "rust": "cargo"}
"""The program that shows whether a toolchain is here."""


def main(spec_text: str, config_text: str) -> None:
    """Run the stage for one specification under one configuration."""
    spec, config = specification.read(spec_text), Config(**json.loads(config_text))
    output = Path(spec["output"])
    prepared = Prepared(output.parent)
    _clear(prepared)
    manifest: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "task": spec["id"], "made_from": spec["digest"]}
    manifest |= {"status": "ok", "reason": None, "message": None, "files": {}, "digest": None}
    try:
        task = selfbench.load(Path(spec["task"]))
        _require(task, spec, config)
        _make(task, Path(spec["repository"]), prepared, config.sandbox, spec["network"])
        manifest["files"] = seal(prepared.agent)
        manifest["digest"] = digests.of_value(manifest["files"])
    except (RegradeError, OSError) as error:
        reason = _reason(error)
        manifest |= {"status": status_of(reason), "reason": reason, "message": str(error)}
        if reason != "not_applicable":
            row = {"digest": spec["digest"], "attempt": spec["attempt"], "stage": "snapshot"}
            files.append_jsonl(Path(spec["errors"]), {**row, "reason": reason, "message": str(error)})
    files.write_json(output, manifest)


def _clear(prepared: Prepared) -> None:
    for place in (prepared.base, prepared.repository, prepared.agent, prepared.folder / "verifier",
                  prepared.agent_home, prepared.folder / "verifier-home"):  # fmt: skip
        workspace.remove(place)


def _reason(error: Exception) -> str:
    if isinstance(error, NotApplicable):
        return "not_applicable"
    return "sandbox_error" if isinstance(error, SandboxError | OSError) else "inputs_error"


def _require(task: SelfbenchTask, spec: dict[str, Any], config: Config) -> None:
    """Raises for what is missing here: the repository, a toolchain, the sandbox."""
    if spec["repository"] is None:
        raise InputsError(
            f"selfbench.repositories in the configuration has no {task.definition.repo!r}, "
            "expected a clone or a git bundle of it"
        )
    if missing := [name for name in task.definition.toolchains if shutil.which(PROGRAMS[name]) is None]:
        programs = ", ".join(f"{name} (no program {PROGRAMS[name]})" for name in missing)
        raise NotApplicable(f"toolchains of the task that are not installed here: {programs}")
    if config.sandbox == "bubblewrap" and (why := sandbox.available()):
        raise SandboxError(f"code does not run here: {why}")


def _make(task: SelfbenchTask, repo: Path, prepared: Prepared, mode: str, network: bool) -> None:
    """Unpack the base and set it up, for agents and, where the reference solution needs other packages, for tests."""
    prepared.folder.mkdir(parents=True, exist_ok=True)
    base.unpack(repo, task.definition.base_commit, prepared.base)
    base.make(prepared.base, prepared.repository)
    with tempfile.TemporaryDirectory(prefix="regrade-setup-", dir=prepared.folder) as folder:
        place = app.Place(Path(folder))
        place.make(prepared.base)
        logs = [_set_up(task, place, mode, network)]
        base.clean(prepared.repository, place.app)
        app.copy(place.app, prepared.agent)
        app.copy(place.home, prepared.agent_home)
        if patch := dependencies.setup_patch(task.gold_patch):
            _apply(patch, diffs.strip_level(task.gold_patch), place.app)
            logs.append(_set_up(task, place, mode, network))
            base.clean(prepared.repository, place.app)
            app.copy(place.app, prepared.folder / "verifier")
            app.copy(place.home, prepared.folder / "verifier-home")
    files.write_text(prepared.log, redaction.redact("\n".join(logs)))
    seal(prepared.base)


def _apply(patch: bytes, level: int, tree: Path) -> None:
    try:
        git(tree, "apply", f"-p{level}", "--binary", "--whitespace=nowarn", stdin=patch)
    except GitError as error:
        raise InputsError(f"gold.patch: its dependency files do not apply to the base commit: {error}") from error


def _set_up(task: SelfbenchTask, place: app.Place, mode: str, network: bool) -> str:
    """Run the set-up command; what it printed. Raises InputsError."""
    definition = task.definition
    if not (place.app / definition.workdir).is_dir():
        raise InputsError(f"workdir is {definition.workdir!r}, expected a folder of the base commit")
    bounds = app.Bounds.of(definition, definition.timeouts.setup_seconds)
    ended = app.run(place, definition.setup_command, definition.workdir, bounds, mode, network=network)
    if ended.code:
        said = redaction.redact(ended.last_words)
        why = "; it looks like the network" if looks_like_network(ended.output) else ""
        why += ", which selfbench.setup_network: false keeps from it" if why and not network else ""
        raise InputsError(f"setupCommand {ended.ending}{why}: {said}")
    return ended.output.decode(errors="backslashreplace")


if __name__ == "__main__":
    with ending_in_one_line("the snapshot"):
        main(*sys.argv[1:])
