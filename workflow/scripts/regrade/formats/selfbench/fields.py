"""Every field of a definition, in the order of the format: what it may hold, and how a message calls that."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from regrade.formats.selfbench.javascript import trimmed
from regrade.formats.selfbench.urls import is_url

PLACEHOLDER = "{tests}"
"""What stands in a test command for the selected tests."""

DIFFICULTIES = ("easy", "medium", "hard")
TOOLCHAINS = ("uv", "bun", "go", "node", "python", "rust")
TASK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_COMMIT = re.compile(r"[0-9a-fA-F]{40}")
_LARGEST = 2**53 - 1


@dataclass(frozen=True)
class Field:
    """What a value has to be: an object of `parts`, a list of `of` with at least `least` items, or what `holds`."""

    expected: str
    holds: Callable[[Any], bool] = bool
    of: "Field | None" = None
    least: int = 0
    parts: "dict[str, Field]" = field(default_factory=dict)


def _text(expected: str, holds: Callable[[str], Any] = bool) -> Field:
    return Field(expected, lambda value: isinstance(value, str) and bool(holds(value)))


def _one_of(choices: tuple[str, ...]) -> Field:
    return Field(f"one of {', '.join(choices)}", lambda value: isinstance(value, str) and value in choices)


def _texts(least: int, item: str) -> Field:
    expected = f"a list of {item}s" + (", at least one" if least else "")
    return Field(expected, of=_text(f"a {item}, a text that is not empty"), least=least)


def _is_count(value: Any) -> bool:
    """Whether it is a whole number from 1; the parser makes every number of JSON a float."""
    return isinstance(value, float) and value.is_integer() and 1 <= value <= _LARGEST


_COUNT = Field(f"a whole number from 1 to {_LARGEST}", _is_count)
_CPUS = Field("a number above 0", lambda value: isinstance(value, float) and 0 < value < math.inf)

FIELDS: dict[str, Field] = {
    "schemaVersion": Field("the number 1", lambda value: isinstance(value, float) and value == 1),
    "difficulty": _one_of(DIFFICULTIES),
    "taskId": _text("a letter or digit, then letters, digits, dots, underscores and hyphens", TASK_ID.fullmatch),
    "repo": _text("a repository's name or address, a text that is not empty"),
    "baseCommit": _text("a full commit SHA (40 hexadecimal digits)", _COMMIT.fullmatch),
    "workdir": _text('a folder of the repository, such as "."'),
    "setupCommand": _text("a command, a text that is not empty"),
    "testCommand": _text(f'a command that must contain "{PLACEHOLDER}"', lambda text: PLACEHOLDER in text),
    "failToPass": _texts(1, "test selector"),
    "passToPass": _texts(0, "test selector"),
    "testPaths": _texts(1, "path"),
    "toolchains": Field("a list of toolchains, at least one", of=_one_of(TOOLCHAINS), least=1),
    "sourcePr": _COUNT,
    "sourceUrl": _text("an absolute URL", lambda text: is_url(trimmed(text))),
    "prompt": _text("an instruction, a text that is not empty"),
    "timeouts": Field(
        "an object with setupSeconds, agentSeconds and testsSeconds",
        parts={"setupSeconds": _COUNT, "agentSeconds": _COUNT, "testsSeconds": _COUNT},
    ),
    "resources": Field(
        "an object with cpus, memoryMb and storageMb",
        parts={"cpus": _CPUS, "memoryMb": _COUNT, "storageMb": _COUNT},
    ),
}
