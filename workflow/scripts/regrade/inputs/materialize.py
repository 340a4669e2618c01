"""Making a task's inputs in a folder: the copy of its workspace, what its generator writes, and no leak."""

import os
import tempfile
from pathlib import Path

from regrade import sandbox, workspace
from regrade.errors import InputsError
from regrade.formats.artifact import ArtifactTask
from regrade.inputs import leaks
from regrade.inputs.generator import LIMITS, MARKER, run_generator
from regrade.inputs.survey import Survey, copy, regular_files, survey


def materialize(
    task: ArtifactTask, destination: Path, mode: sandbox.Mode = "bubblewrap", limits: sandbox.Limits = LIMITS
) -> None:
    """Write a task's inputs into a folder; all of them, or (if it did not exist) nothing.

    In a folder where that was done before, the generator is skipped, the committed inputs are as new, and other files
    stay. Raises InputsError with what is wrong with the task, SandboxError, or OSError.
    """
    _refuse_overlap(task, destination)
    destination = destination.resolve()
    found = survey(task.workspace)
    if found.faults:
        lines = [f"{task.workspace / name}: {why}" for name, why in found.faults.items()]
        raise InputsError("\n".join(lines))
    destination.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{destination.name}.", dir=destination.parent))
    try:
        scratch = temporary / "workspace"
        generate = not (destination / MARKER).is_file()
        _fill(task, found, scratch, temporary / "scripts", generate, mode, limits)
        if destination.is_dir() and any(destination.iterdir()):
            _merge(scratch, destination)
            _refuse_leaks(task, destination)
        else:
            _refuse_leaks(task, scratch)
            scratch.rename(destination)
    finally:
        workspace.remove(temporary)


def _fill(
    task: ArtifactTask,
    found: Survey,
    scratch: Path,
    scripts: Path,
    generate: bool,
    mode: sandbox.Mode,
    limits: sandbox.Limits,
) -> None:
    """The generator runs from a copy of the folder it lies in, where it finds its own modules but no grader."""
    generator = task.generator.relative_to(task.workspace).as_posix() if task.generator else None
    for folder in (scratch, scripts):
        folder.mkdir()
        folder.chmod(0o755)
    copy(found, scratch, without=generator)
    if generator and generate:
        copy(found, scripts)
        run_generator(task, generator, scripts, scratch, mode, limits)


def _refuse_overlap(task: ArtifactTask, destination: Path) -> None:
    folder, place = task.folder.resolve(), destination.resolve()
    if place.is_relative_to(folder) or folder.is_relative_to(place):
        raise InputsError(f"{destination}: overlaps the task's folder {task.folder}, expected a folder elsewhere")
    if destination.exists() and not destination.is_dir():
        raise InputsError(f"{destination}: is a file, expected a folder or nothing")


def _refuse_leaks(task: ArtifactTask, folder: Path) -> None:
    found = sorted(leaks.find(regular_files(folder), task))
    if found:
        lines = [f"{task.folder}: the inputs would give the grader away: {name!r} {why}" for name, why in found]
        raise InputsError("\n".join(lines))


def _merge(scratch: Path, destination: Path) -> None:
    """Move every file over, the marker last, and never through a link that somebody left there."""
    for place, folders, _ in os.walk(scratch):
        for name in folders:
            target = destination / Path(place, name).relative_to(scratch)
            if target.is_symlink() or (target.exists() and not target.is_dir()):
                raise InputsError(f"{target}: stands where the task has a folder: remove it")
            target.mkdir(exist_ok=True)
    for name, path in sorted(regular_files(scratch), key=lambda file: file[0] == MARKER):
        if (destination / name).is_dir():
            raise InputsError(f"{destination / name}: stands where the task has a file: remove it")
        path.replace(destination / name)
