"""Checks on the files that a task's agent gets: the workspace folder without its generator."""

import re
from collections.abc import Iterator
from pathlib import Path

from regrade.errors import Fault
from regrade.formats.artifact.task import ArtifactTask
from regrade.inputs import leaks
from regrade.inputs.generator import MARKER
from regrade.inputs.survey import survey

FILE_MB, TOTAL_MB = 10, 50

MENTION = re.compile(r"(?<![\w-])grader/|reference_output")

_TEXT_BYTES = 4096
"""A file without a zero byte in its beginning counts as text."""


def _inputs(task: ArtifactTask) -> dict[str, Path]:
    own = task.generator.relative_to(task.workspace).as_posix() if task.generator else None
    return {name: path for name, path in survey(task.workspace).files.items() if name != own}


def check_links(task: ArtifactTask) -> Iterator[Fault]:
    """Everything is a file, a folder, or a link to one of them inside the workspace."""
    for name, why in survey(task.workspace).faults.items():
        yield Fault(str(task.workspace / name), "", f"{why}, expected files and folders inside the workspace")
    if (task.workspace / MARKER).exists():
        yield Fault(str(task.workspace / MARKER), "", "is what a generator's end is marked with, expected no such file")


def check_sizes(task: ArtifactTask) -> Iterator[Fault]:
    """What is committed stays small; what a generator writes may be larger."""
    sizes = {path: path.stat().st_size for path in _inputs(task).values()}
    for path, size in sizes.items():
        if size > FILE_MB * 10**6:
            message = f"has {size / 10**6:.1f} MB, expected at most {FILE_MB}: have a generator write it"
            yield Fault(str(path), "", message, "warning")
    total = sum(sizes.values())
    if total > TOTAL_MB * 10**6:
        message = f"holds {total / 10**6:.1f} MB, expected at most {TOTAL_MB}: have a generator write them"
        yield Fault(str(task.workspace), "", message, "warning")


def check_leaks(task: ArtifactTask) -> Iterator[Fault]:
    """Nothing of the grader's lies among the inputs."""
    for name, why in leaks.find(_inputs(task).items(), task):
        yield Fault(str(task.workspace / name), "", f"{why}, expected nothing of the grader's among the inputs")


def check_mentions(task: ArtifactTask) -> Iterator[Fault]:
    """No text file speaks of the grader or the reference. A warning: a harmless comment may."""
    for path in _inputs(task).values():
        content = path.read_bytes()
        if b"\0" in content[:_TEXT_BYTES]:
            continue
        yield from mentions(path, content.decode("utf-8", "replace"))


def mentions(path: Path, text: str) -> Iterator[Fault]:
    """The first place in a text that names the grader's folder or the reference."""
    found = MENTION.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        message = f"names {found.group()!r}, which the agent must not hear of"
        yield Fault(str(path), f"line {line}", message, "warning")
