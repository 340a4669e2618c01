"""What a repair may change in a task that was refused: its tests and how they run, not what it asks for."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from regrade.formats.selfbench import diffs
from regrade.formats.selfbench.definition import Definition, canonical, decode
from regrade.formats.selfbench.load import DEFINITION, SelfbenchTask, content, load

IMMUTABLE = (
    "schemaVersion", "difficulty", "taskId", "repo", "baseCommit", "workdir", "sourcePr", "sourceUrl", "prompt",
)  # fmt: skip
"""Fields that stay as they are, in the order in which a change is looked for."""

_TEST_FOLDERS = {
    "test", "tests", "__tests__", "e2e", "integration", "fixture", "fixtures",
    "selfbench", "selfbench-tests", "selfbench_tests", ".selfbench-tests",
}  # fmt: skip
_TEST_FILE = re.compile(r"(?:.*\.)?(?:test|spec)\.[^.]+", re.IGNORECASE | re.DOTALL)


def check_folders(old: Path, new: Path, coupling: bool = False) -> str | None:
    """What is wrong with a repair of one task's folder into another, or None. Raises FaultsError for faulty tasks.

    The fields that must stay are compared first, so that a new value which no definition may hold is called a change.
    """
    before = load(old)
    fields = [_value(folder) for folder in (old, new)]
    if not coupling and (found := changed_field(*fields)):
        return _immutable(found)
    after = load(new)
    return check_coupling(before, after) if coupling else check(before, after)


def _value(folder: Path) -> dict[str, Any]:
    value = decode(content(folder / DEFINITION), str(folder / DEFINITION))
    return value if isinstance(value, dict) else {}


def changed_field(old: dict[str, Any], new: dict[str, Any]) -> str | None:
    """The first immutable field whose value in a definition's JSON is not what it was, to the byte."""
    return next((name for name in IMMUTABLE if old.get(name) != new.get(name)), None)


def _immutable(field: str) -> str:
    return f"validation repair changed immutable definition field {field}"


def check(old: SelfbenchTask, new: SelfbenchTask) -> str | None:
    """What is wrong with a validation repair, or None: a repair of the hidden tests and of how they are run."""
    if field := changed_field(_fields(old.definition), _fields(new.definition)):
        return _immutable(field)
    changed = changed_paths(old, new)
    if error := check_paths(old.test_patch, changed):
        return error
    if not changed and canonical(old.definition) == canonical(new.definition):
        return "validation repair left the task unchanged"
    return None


def _fields(definition: Definition) -> dict[str, Any]:
    value = decode(canonical(definition), DEFINITION)
    return value if isinstance(value, dict) else {}


def check_paths(test_patch: bytes, changed: list[str]) -> str | None:
    """What is wrong with the files that a validation repair changed, or None."""
    held_out = diffs.paths(test_patch)
    if not held_out:
        return "original held-out test patch changes no files"
    if others := [path for path in held_out if not is_test_only(path)]:
        return f"validation repair requires test-only patch paths: {', '.join(others)}"
    if outside := _outside(changed, held_out):
        return f"validation repair changed files outside held-out tests: {outside}"
    return None


def check_coupling(old: SelfbenchTask, new: SelfbenchTask) -> str | None:
    """What is wrong with a coupling repair, or None: the hidden tests' contents alone may change."""
    before, after = _fields(old.definition), _fields(new.definition)
    for name in before:
        if before[name] != after.get(name):
            return f"coupling repair changed definition field {name}"
    return check_coupling_paths(old.test_patch, changed_paths(old, new))


def check_coupling_paths(test_patch: bytes, changed: list[str]) -> str | None:
    """What is wrong with the files that a coupling repair changed, or None."""
    held_out = diffs.paths(test_patch)
    if not held_out:
        return "original held-out test patch changes no files"
    if outside := _outside(changed, held_out):
        return f"repair changed files outside the held-out tests: {outside}"
    return None if changed else "repair left the held-out test patch unchanged"


def _outside(changed: Iterable[str], held_out: list[str]) -> str:
    return ", ".join(path for path in changed if path not in held_out)


def changed_paths(old: SelfbenchTask, new: SelfbenchTask) -> list[str]:
    """The files of which the patches of two tasks say different things, in the order of the new one's patches."""
    found: dict[str, None] = {}
    for before, after in ((old.test_patch, new.test_patch), (old.gold_patch, new.gold_patch)):
        was, now = _by_path(before), _by_path(after)
        found |= dict.fromkeys(path for path in {**now, **was} if was.get(path) != now.get(path))
    return list(found)


def _by_path(patch: bytes) -> dict[str, list[bytes]]:
    """What a patch says of each file that it writes or removes; blank lines at the end of a section say nothing."""
    found: dict[str, list[bytes]] = {}
    for section in diffs.sections(patch):
        for path in section.touched:
            found.setdefault(path, []).append(section.raw.rstrip(b"\n"))
    return found


def is_test_only(path: str) -> bool:
    """Whether a path is that of a test by its folders' names or by its own."""
    parts = path.split("/")
    return any(part.lower() in _TEST_FOLDERS for part in parts) or _TEST_FILE.fullmatch(parts[-1]) is not None
