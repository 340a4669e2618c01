"""SelfBench tasks compiled to Harbor bundles: the same bytes for the same task and base commit."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from regrade import digests, files, specification
from regrade.errors import RegradeError, ending_in_one_line
from regrade.formats import selfbench
from regrade.formats.selfbench import dependencies, diffs, javascript, repository
from regrade.formats.selfbench.definition import Definition, digest
from regrade.formats.selfbench.load import SelfbenchTask
from regrade.harbor import dockerfiles
from regrade.harbor.task_toml import COMPILER_REVISION, HARBOR_SCHEMA_VERSION, task_toml
from regrade.harbor.test_script import test_script

MANIFEST = ".selfbench-manifest.json"
GENERATOR = "regrade"
_RUN = {"tests/test.sh", "solution/solve.sh"}
_SOLVE = """#!/bin/bash
# Applies the reference solution.
set -euo pipefail
cd /app
git apply -p{level} --binary --whitespace=nowarn /solution/gold.patch
"""


def compile_task(task: SelfbenchTask, repo: Path, out: Path) -> None:
    """Write the bundle of a task into `out`, in place of an earlier bundle of the same task.

    `repo` is a clone or a git bundle that holds the base commit. Raises RegradeError for a task that Harbor cannot
    take, a repository without the commit, and a folder that holds anything else.
    """
    _check_id(task)
    _check_place(task.definition.task_id, out)
    with repository.opened(repo, task.definition.base_commit) as base:
        archive = base.archive()
    content = {
        "instruction.md": _encoded(f"{javascript.trimmed(task.definition.prompt)}\n"),
        "environment/repo.tar.gz": archive,
        "tests/repo.tar.gz": archive,
        "solution/gold.patch": task.gold_patch,
        "solution/solve.sh": _encoded(_SOLVE.format(level=diffs.strip_level(task.gold_patch))),
        **made_from_definition(task, task.gold_patch),
    }
    _write(out, content)


def refresh(bundle: Path, task: SelfbenchTask) -> None:
    """Make anew, in a bundle, what a repaired definition and repaired hidden tests change.

    The instruction, the reference solution and the repository stay as they are. Raises RegradeError for a folder that
    is no bundle, or the bundle of another task.
    """
    found = bundle_id(bundle)
    if found is None:
        raise RegradeError(f"{bundle}: is no bundle, expected one that `regrade compile` wrote")
    if found != task.definition.task_id:
        raise RegradeError(f"bundle task {found} does not match {task.definition.task_id}")
    gold = bundle / "solution" / "gold.patch"
    if not gold.is_file():
        raise RegradeError(f"{gold}: is not there, expected the bundle's reference solution: compile it anew")
    content = made_from_definition(task, gold.read_bytes())
    for name, data in content.items():
        _put(bundle, name, data)
    if "tests/dependency-setup.patch" not in content:
        (bundle / "tests" / "dependency-setup.patch").unlink(missing_ok=True)


def made_from_definition(task: SelfbenchTask, gold_patch: bytes) -> dict[str, bytes]:
    """The files of a bundle that a definition and hidden tests decide, by their names in it."""
    definition = task.definition
    patch = dependencies.setup_patch(gold_patch)
    level = diffs.strip_level(gold_patch)
    made = {
        MANIFEST: _encoded(manifest(definition, task.test_patch, gold_patch)),
        "task.toml": _encoded(task_toml(definition)),
        "environment/Dockerfile": _encoded(dockerfiles.agent(definition)),
        "tests/Dockerfile": _encoded(dockerfiles.verifier(definition, level if patch else None)),
        "tests/test.patch": task.test_patch,
        "tests/test.sh": _encoded(test_script(task, gold_patch)),
    }
    return made | ({"tests/dependency-setup.patch": patch} if patch else {})


def manifest(definition: Definition, test_patch: bytes, gold_patch: bytes) -> str:
    """What a bundle says of where it comes from."""
    value = {
        "generator": GENERATOR,
        "harborSchemaVersion": HARBOR_SCHEMA_VERSION,
        "compilerRevision": COMPILER_REVISION,
        "taskId": definition.task_id,
        "difficulty": definition.difficulty,
        "definitionSha256": digest(definition),
        "testPatchSha256": digests.of_bytes(test_patch),
        "goldPatchSha256": digests.of_bytes(gold_patch),
    }
    return f"{javascript.stringify(value, 2)}\n"


def bundle_id(folder: Path) -> str | None:
    """The task that a folder is the bundle of, None if it is none."""
    try:
        value: Any = files.read_json(folder / MANIFEST)
    except (OSError, ValueError, RecursionError):
        return None
    found = value.get("taskId") if isinstance(value, dict) and "compilerRevision" in value else None
    return found if isinstance(found, str) else None


def _check_id(task: SelfbenchTask) -> None:
    if ".." in task.definition.task_id:
        place = f"{task.folder / 'definition.json'}: taskId"
        raise RegradeError(f"{place}: is {task.definition.task_id!r}, expected none with '..': Harbor refuses the name")


def _check_place(task_id: str, out: Path) -> None:
    """Refuse a place whose content would be lost: anything but nothing, or an earlier bundle of the task."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise RegradeError(f"{out}: is no folder, expected none yet, an empty one, or an earlier bundle")
    if not out.exists() or not any(out.iterdir()):
        return
    found = bundle_id(out)
    if found is None:
        raise RegradeError(f"{out}: holds other files, expected none yet, an empty one, or an earlier bundle")
    if found != task_id:
        raise RegradeError(f"{out}: is the bundle of {found!r}, expected none yet, or one of {task_id!r}")


def _write(out: Path, content: dict[str, bytes]) -> None:
    """Make the whole folder beside its place, then move it there, so that nobody sees half a bundle."""
    out.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{out.name[:60]}.", dir=out.parent))
    try:
        for name, data in content.items():
            _put(made, name, data)
        for folder in (made, *(place for place in made.iterdir() if place.is_dir())):
            folder.chmod(0o755)
        if out.exists():
            shutil.rmtree(out)
        os.replace(made, out)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _put(bundle: Path, name: str, data: bytes) -> None:
    files.write_bytes(bundle / name, data)
    if name in _RUN:
        (bundle / name).chmod(0o755)


def _encoded(text: str) -> bytes:
    """UTF-8; a lone surrogate, which UTF-8 has no place for, as an escape."""
    return text.encode("utf-8", "backslashreplace")


def main(spec_text: str) -> None:
    """Stage `harbor`: compile the task of a specification (plan.selfbench.compile_spec)."""
    spec = specification.read(spec_text)
    compile_task(selfbench.load(Path(spec["task"])), Path(spec["repository"]), Path(spec["output"]))


if __name__ == "__main__":
    with ending_in_one_line("the bundle"):
        main(*sys.argv[1:])
