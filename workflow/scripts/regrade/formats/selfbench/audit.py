"""The static audit: what a definition and its two patches say about a task's quality, without running anything."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from regrade.formats.selfbench import diffs
from regrade.formats.selfbench.definition import Definition
from regrade.formats.selfbench.diffs import Section
from regrade.formats.selfbench.fields import PLACEHOLDER
from regrade.formats.selfbench.load import SelfbenchTask

_QUOTED = re.compile(rf"([\"']){re.escape(PLACEHOLDER)}\1")


class _Least(NamedTuple):
    """What a difficulty asks for at least."""

    files: int
    lines: int
    pass_to_pass: int


_LEAST = {"easy": _Least(1, 20, 0), "medium": _Least(2, 50, 1), "hard": _Least(3, 100, 2)}


@dataclass(frozen=True)
class Audit:
    """Blockers in the format's order and words; none means that the task is accepted."""

    blockers: tuple[str, ...]
    implementation_files: int
    implementation_changed_lines: int
    test_files: int

    @property
    def accepted(self) -> bool:
        """Whether nothing stands against the task."""
        return not self.blockers

    @property
    def reason(self) -> str:
        """Why a task is refused: its blockers on one line."""
        return "; ".join(self.blockers)

    @property
    def metrics(self) -> dict[str, int]:
        """What was counted, by the names of the format."""
        return {
            "implementationFiles": self.implementation_files,
            "implementationChangedLines": self.implementation_changed_lines,
            "testFiles": self.test_files,
        }


def audit(task: SelfbenchTask) -> Audit:
    """Hold a task against the rules of its difficulty. Raises RefusedError for a patch with broken quoting."""
    gold, tests = diffs.sections(task.gold_patch), diffs.sections(task.test_patch)
    lines = diffs.changed_lines(task.gold_patch)
    blockers = [
        *_overlap(gold, tests),
        *_size(task.definition, len(gold), lines),
        *([] if tests else ["held-out test patch changes no files"]),
        *_pass_to_pass(task.definition),
        *_command(task.definition),
    ]
    return Audit(tuple(blockers), len(gold), lines, len(tests))


def _overlap(gold: list[Section], tests: list[Section]) -> Iterator[str]:
    held_out = {path for section in tests for path in section.touched}
    both = dict.fromkeys(path for section in gold for path in section.touched if path in held_out)
    if both:
        yield f"gold and held-out test patches overlap: {', '.join(both)}"


def _size(definition: Definition, files: int, lines: int) -> Iterator[str]:
    mode, least = definition.difficulty, _LEAST[definition.difficulty]
    if files < least.files:
        yield f"{mode} mode requires at least {least.files} implementation files; found {files}"
    if lines < least.lines:
        yield f"{mode} mode requires at least {least.lines} changed implementation lines; found {lines}"


def _pass_to_pass(definition: Definition) -> Iterator[str]:
    least = _LEAST[definition.difficulty].pass_to_pass
    if len(definition.pass_to_pass) < least:
        yield f"{definition.difficulty} mode requires at least {least} pass-to-pass regression tests"


def _command(definition: Definition) -> Iterator[str]:
    command = definition.test_command
    outside = command.replace(PLACEHOLDER, "", 1)
    if any(selector in outside for selector in (*definition.fail_to_pass, *definition.pass_to_pass)):
        yield f'test command must not hard-code fail-to-pass or pass-to-pass paths outside "{PLACEHOLDER}"'
    if command.count(PLACEHOLDER) != 1:
        yield f'test command must contain "{PLACEHOLDER}" exactly once'
    if _QUOTED.search(command):
        yield f'test command must expand "{PLACEHOLDER}" as an unquoted shell argument list'
