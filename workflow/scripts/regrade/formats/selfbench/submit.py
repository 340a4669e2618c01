"""Handing in a task: it is checked, and written into a folder of its own below the output root."""

import errno
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regrade.errors import FaultsError, RegradeError
from regrade.formats.selfbench import redaction
from regrade.formats.selfbench.definition import Definition, parse, pretty
from regrade.formats.selfbench.load import DEFINITION, GOLD_PATCH, TEST_PATCH, SelfbenchTask, faults

OUTPUT = "SELFBENCH_TASK_OUTPUT"
"""The variable that names the output root."""


@dataclass(frozen=True)
class Assignment:
    """What the author was asked to make a task of; None where anything goes."""

    source_pr: int | None = None
    base_commit: str | None = None
    difficulty: str | None = None

    def fits(self, definition: Definition) -> bool:
        """Whether a definition is about this pull request, commit and difficulty."""
        pairs = (
            (self.source_pr, definition.source_pr),
            (self.base_commit, definition.base_commit),
            (self.difficulty, definition.difficulty),
        )
        return all(asked is None or asked == found for asked, found in pairs)


def examine(source: str, definition: bytes | None, test_patch: bytes | None, gold_patch: bytes | None) -> SelfbenchTask:
    """The task that is handed in; `source` is how its definition is called in messages. Raises RegradeError."""
    if not (definition and test_patch and gold_patch) or _lacks_id(definition):
        raise RegradeError("submit_task received an incomplete task")
    found, warnings = parse(definition, source)
    task = SelfbenchTask(Path(source).parent, found, test_patch, gold_patch, tuple(warnings))
    for fault in faults(task):
        raise FaultsError([fault])
    return task


def _lacks_id(definition: bytes) -> bool:
    """Whether it is an object without a task's id; what else is wrong, `parse` says better."""
    try:
        value = json.loads(definition)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("taskId") in (None, "")


def submit(task: SelfbenchTask, root: Path, assigned: Assignment) -> Path:
    """Write a task's three files into a new folder below `root`, and return it. Raises RegradeError.

    Nothing is ever written over, and nothing stays if the disk does not take all of it.
    """
    if not assigned.fits(task.definition):
        raise RegradeError("authored task does not match its assigned PR, base commit, and difficulty")
    folder = root / task.definition.task_id
    try:
        folder.mkdir()
    except OSError as error:
        raise RegradeError(_not_made(error, folder)) from error
    try:
        for name, content in _files(task):
            with (folder / name).open("xb") as stream:
                stream.write(content)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise RegradeError(f"{folder}: cannot be written: {error.strerror}") from error
    return folder


def _files(task: SelfbenchTask) -> Iterator[tuple[str, bytes]]:
    yield DEFINITION, pretty(task.definition).encode()
    yield TEST_PATCH, task.test_patch
    yield GOLD_PATCH, task.gold_patch


def _not_made(error: OSError, folder: Path) -> str:
    """The two usual reasons in the words of the format's tool."""
    if error.errno == errno.EEXIST:
        return f"EEXIST: file already exists, mkdir '{folder}'"
    if error.errno == errno.ENOENT:
        return f"ENOENT: no such file or directory, mkdir '{folder}'"
    return f"{folder}: cannot be made: {error.strerror}"


def check_single(root: Path) -> None:
    """Raise RegradeError unless exactly one task lies below the output root."""
    count = sum(entry.is_dir() for entry in root.iterdir())
    if count != 1:
        raise RegradeError(f"authoring must produce exactly one task; found {count}")


def secrets(task: SelfbenchTask) -> Iterator[str]:
    """A warning for each file of a task that holds what is unmistakably a secret."""
    for name, content in _files(task):
        for kind in redaction.kinds(content.decode("utf-8", "replace")):
            yield f"{name}: warning: holds what looks like {kind}: take it out before the task is shared"
