"""What a program can see of a sound task's quality. Each check takes a task and gives its faults and warnings."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from regrade.errors import Fault
from regrade.formats.artifact import code, workspace_files
from regrade.formats.artifact.task import ArtifactTask

Check = Callable[[ArtifactTask], Iterator[Fault]]

SHORT = 16
"""Characters up to which a reference may stand in a prompt by chance."""


def check_task(task: ArtifactTask) -> list[Fault]:
    """Everything found in a task whose manifest is sound, by file."""
    return sorted({fault for check in CHECKS for fault in check(task)})


def check_prompt(task: ArtifactTask) -> Iterator[Fault]:
    """The prompt is text, says something, and does not hold the answer."""
    path = str(task.prompt)
    try:
        text = task.prompt.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        yield Fault(path, "", f"is not UTF-8 at byte {error.start}, expected text")
        return
    if not text.strip():
        yield Fault(path, "", "is empty, expected what the agent is to do")
    yield from workspace_files.mentions(task.prompt, text)
    answer = task.reference.read_bytes().decode("utf-8", "replace").strip()
    if len(answer) > SHORT and answer in text:
        yield Fault(path, "", f"holds the whole of {task.reference.name}, expected no answer in the prompt")


def check_verifier(task: ArtifactTask) -> Iterator[Fault]:
    """A verifier is declared if there is one, and lies where the agent gets it."""
    manifest = str(task.folder / "task.yaml")
    if task.verifier is None and (task.workspace / "verify.py").is_file():
        yield Fault(
            manifest, "structural_verifier", "missing, but workspace/verify.py is there: declare it, or rename the file"
        )
    if task.verifier is not None:
        if not task.verifier.is_relative_to(task.workspace):
            message = "lies outside the workspace folder, so no agent gets it: move it there"
            yield Fault(manifest, "structural_verifier", message, "warning")
        yield from code.syntax(task.verifier)


def check_generator(task: ArtifactTask) -> Iterator[Fault]:
    """A generator is Python that needs nothing but the standard library and its own folder."""
    if task.generator is not None:
        yield from code.syntax(task.generator)
        yield from code.foreign_imports(task.generator)


def check_reference(task: ArtifactTask) -> Iterator[Fault]:
    """The reference is where the format puts it, and says something."""
    if task.reference.parent != task.grader.parent or not task.reference.name.startswith("reference_output"):
        message = "lies elsewhere, expected by convention grader/reference_output.<ending>"
        yield Fault(str(task.folder / "task.yaml"), "reference_output", message, "warning")
    if not task.reference.stat().st_size:
        yield Fault(str(task.reference), "", "is empty: it should be an artifact that passes", "warning")


def check_grader(task: ArtifactTask) -> Iterator[Fault]:
    """The grader's folder is Python that parses, defines grade, and depends on nothing but what it is given."""
    yield from code.grade_function(task.grader)
    root = task.folder.resolve()
    for path in sorted(task.grader.parent.rglob("*")):
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(root):
            message = "is a link that leaves the task's folder, expected a file: a change of it would go unseen"
            yield Fault(str(path), "", message)
        elif path.suffix == ".py" and path.is_file():
            yield from code.syntax(path)
            yield from code.grader_habits(path)
            yield from _foreign_ids(path, task)


def _foreign_ids(path: Path, task: ArtifactTask) -> Iterator[Fault]:
    """Random numbers are seeded from the id: one that was left over from a copied task is a slip."""
    for line, text in code.strings(path):
        if re.fullmatch(rf"{re.escape(task.category)}__[a-z0-9_]+", text) and text != task.id:
            message = f"names the id {text!r}, expected this task's own, {task.id!r}, or none"
            yield Fault(str(path), f"line {line}", message, "warning")


CHECKS: tuple[Check, ...] = (
    check_prompt,
    workspace_files.check_links,
    workspace_files.check_sizes,
    workspace_files.check_leaks,
    workspace_files.check_mentions,
    check_verifier,
    check_generator,
    check_reference,
    check_grader,
)
