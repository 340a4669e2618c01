"""Running a task's generator: the script that writes inputs too large to commit."""

import hashlib
import sys
from pathlib import Path

from regrade import digests, sandbox
from regrade.errors import InputsError
from regrade.formats.artifact import ArtifactTask
from regrade.sandbox.command import base_environment

LIMITS = sandbox.Limits(wall_s=900, cpu_s=120, memory_mb=4096, processes=64, disk_mb=2048, output_kb=64)
"""CPU ends a generator that works too long; the wall limit is only for one that waits, so a busy machine fails none."""

MARKER = ".workspace_generator_done"
"""Stands in a folder in which the generator ended well."""

SHOWN = 8192
"""Characters of the generator's stderr that an error shows."""

_OUTPUT, _SCRIPTS = "/workspace", "/generator"


def seed_of(identifier: str) -> int:
    """The seed that a task's generator gets: the same everywhere and for ever."""
    return int(hashlib.sha256(identifier.encode()).hexdigest()[:8], 16)


def run_generator(
    task: ArtifactTask, name: str, scripts: Path, scratch: Path, mode: sandbox.Mode, limits: sandbox.Limits
) -> None:
    """Run the generator `name` of the folder `scripts` with its output in `scratch`, and set the marker.

    Raises InputsError with the end of its stderr, SandboxError if it could not be started.
    """
    outcome = sandbox.run(
        sandbox.Command(
            argv=[*_scrubbed(), sys.executable, f"{_SCRIPTS}/{name}", *_arguments(task.id)],
            mounts=[
                sandbox.Mount(scratch.resolve(), _OUTPUT, writable=True),
                sandbox.Mount(scripts.resolve(), _SCRIPTS),
            ],
            cwd=_OUTPUT,
            limits=limits,
            mode=mode,
        )
    )
    failure = _failure(outcome, limits)
    if failure:
        stderr = outcome.stderr.decode("utf-8", "replace")[-SHOWN:].strip() or "(it wrote nothing to stderr)"
        raise InputsError(f"{task.generator}: {failure}; the end of its stderr:\n{stderr}")
    for left, entry in digests.walk(scratch):
        if not entry.is_file(follow_symlinks=False):
            kind = "a link" if entry.is_symlink() else "neither a file nor a folder"
            raise InputsError(f"{task.generator}: wrote {left!r}, which is {kind}; expected files and folders only")
    (scratch / MARKER).write_bytes(b"ok\n")


def _scrubbed() -> list[str]:
    """The format promises a generator two variables and no other, fewer than the sandbox gives everybody."""
    given = base_environment()
    return ["/usr/bin/env", "-i", f"PATH={given['PATH']}", "PYTHONDONTWRITEBYTECODE=1"]


def _arguments(identifier: str) -> list[str]:
    return ["--seed", str(seed_of(identifier)), "--output-dir", _OUTPUT, "--instance-id", identifier]


def _failure(outcome: sandbox.Outcome, limits: sandbox.Limits) -> str | None:
    bounds = {
        "wall": f"{limits.wall_s} s of wall time",
        "cpu": f"{limits.cpu_s} s of CPU time",
        "memory": f"{limits.memory_mb} MB of memory",
        "disk": f"{limits.disk_mb} MB written",
        "processes": f"{limits.processes} processes",
    }
    if outcome.stopped_by:
        return f"ended by a limit, {bounds.get(outcome.stopped_by, outcome.stopped_by)}"
    if outcome.signal:
        return f"ended by signal {outcome.signal}, expected exit code 0"
    return f"ended with exit code {outcome.exit_code}, expected 0" if outcome.exit_code else None
