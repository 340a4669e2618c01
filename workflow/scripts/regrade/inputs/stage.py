"""Stage `inputs`: a task's pristine inputs, read-only, and a manifest that lists them.

python -m regrade.inputs SPEC CONFIG      both JSON, as the rule hands them over
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from regrade import digests, files, sandbox, specification, workspace
from regrade.config import Config
from regrade.errors import InputsError, SandboxError, StaleError
from regrade.formats import artifact
from regrade.inputs.generator import LIMITS
from regrade.inputs.materialize import materialize
from regrade.inputs.survey import regular_files

SCHEMA_VERSION = 1


def main(spec_text: str, config_text: str) -> None:
    """Run the stage for one specification (plan.inputs_spec) under one configuration.

    Raises StaleError, and leaves no manifest, for a workspace that was edited since the plan was made.
    """
    spec, config = specification.read(spec_text), Config(**json.loads(config_text))
    task = artifact.load(Path(spec["task"]), config.categories)
    output = Path(spec["output"])
    _refuse_changed(task, spec["digest"])
    limits = replace(LIMITS, cpu_s=config.limits["generator_cpu_s"], wall_s=config.limits["generator_wall_s"])
    written = write_inputs(task, output, spec["digest"], config.sandbox, limits)  # type: ignore[arg-type]
    try:
        _refuse_changed(task, spec["digest"])
    except (StaleError, OSError):
        output.unlink()
        raise
    if written["status"] == "error":
        row = {"digest": spec["digest"], "attempt": spec["attempt"], "stage": "inputs"}
        files.append_jsonl(Path(spec["errors"]), {**row, "reason": written["reason"], "message": written["message"]})


def digest_of(task: artifact.ArtifactTask) -> str:
    """The digest of what a task's inputs are made from, as the plan takes it."""
    generator = str(task.generator.relative_to(task.folder)) if task.generator else None
    return digests.of_value([task.id, generator, digests.of_folder(task.workspace)])


def _refuse_changed(task: artifact.ArtifactTask, planned: str) -> None:
    if digest_of(task) != planned:
        raise StaleError(f"{task.workspace}: changed while its inputs were made; run again")


def write_inputs(
    task: artifact.ArtifactTask,
    output: Path,
    made_from: str,
    mode: sandbox.Mode = "bubblewrap",
    limits: sandbox.Limits = LIMITS,
) -> dict[str, Any]:
    """Make `workspace/` beside the manifest `output`, then the manifest, and return its content.

    A task whose inputs cannot be made is an `error` in the manifest, and has no `workspace/`.
    """
    pristine = output.parent / "workspace"
    output.unlink(missing_ok=True)
    for leftover in (pristine, *output.parent.glob(f".{pristine.name}.*")):
        workspace.remove(leftover)
    manifest: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "task": task.id, "made_from": made_from}
    manifest |= {"status": "ok", "reason": None, "message": None, "files": {}, "digest": None}
    try:
        materialize(task, pristine, mode, limits)
        manifest["files"] = seal(pristine)
        manifest["digest"] = digests.of_value(manifest["files"])
    except (InputsError, SandboxError, OSError) as error:
        workspace.remove(pristine)
        reason = "inputs_error" if isinstance(error, InputsError) else "sandbox_error"
        manifest |= {"status": "error", "reason": reason, "message": str(error), "files": {}}
    files.write_json(output, manifest)
    return manifest


def seal(pristine: Path) -> dict[str, Any]:
    """Take away the right to write, and list name, digest, size and the mode of a copy that may be written."""
    listed: dict[str, Any] = {}
    for name, path in sorted(regular_files(pristine)):
        mode = 0o755 if os.access(path, os.X_OK) else 0o644
        listed[name] = {"sha256": digests.of_file(path), "size": path.stat().st_size, "mode": f"{mode:04o}"}
        path.chmod(mode & 0o555)
    return listed
