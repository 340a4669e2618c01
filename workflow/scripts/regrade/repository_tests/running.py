"""A repository's tests in the sandbox: as a model sees them, and as they judge it."""

import contextlib
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from regrade import sandbox
from regrade.errors import SandboxError
from regrade.formats.suite.task import TEST_TIMEOUT_S
from regrade.repository_tests import tree
from regrade.repository_tests.judging import Hidden, judge
from regrade.repository_tests.protected import is_outside, is_test_file
from regrade.repository_tests.pytest_run import Run, root_of, run_pytest
from regrade.repository_tests.report import channel
from regrade.workspace import remove

_OURS = """import pytest


def test_regrade_is_reached():
    pass


@pytest.mark.xfail(strict=True, raises=AssertionError)
def test_regrade_can_fail():
    assert False
"""
"""A test that passes and one that must fail: so tests were run, and had their say."""


@dataclass(frozen=True)
class HiddenTest:
    """A file of tests, or one that they need, that the model never sees."""

    path: str
    content: str


@dataclass(frozen=True)
class TestCommand:
    """The words that run the tests, `{python}` for the interpreter, and the seconds that they may take.

    The seconds are of CPU, of all processes together; by the clock a run may take pytest_run.WALL_FACTOR times as long.
    """

    argv: Sequence[str]
    timeout_s: float = TEST_TIMEOUT_S

    __test__ = False


@dataclass(frozen=True)
class Tested:
    """`reason` is a word of statuses.TABLE, empty when passed; `output` is for people and models, one bounded line.

    `about` has `sandbox`, `in_process`, `cpu_s`, `wall_s`, and `left_out`: files of the model that were not tested.
    """

    passed: bool
    reason: str
    detail: str
    output: str = ""
    about: dict[str, Any] = field(default_factory=dict)

    __test__ = False


def run_visible(workspace: Path, command: TestCommand, mode: str) -> Tested:
    """Run the tests that are there on a copy of a workspace, as the model sees them. `mode` is code_execution."""
    refused = _refused(command, mode)
    if refused:
        return refused
    try:
        with _folder() as place:
            tree.copy(workspace, place / "tree")
            run = run_pytest(place / "tree", command.argv, command.timeout_s, mode)
    except (SandboxError, OSError) as error:
        return Tested(False, "sandbox_error", str(error))
    if run.outcome.exit_code == 0:
        return Tested(True, "", "the visible tests pass", run.output, run.about)
    return Tested(False, "tests_failed", run.ending, run.output, run.about)


def run_hidden(
    pristine: Path, workspace: Path, command: TestCommand, hidden: Sequence[HiddenTest], mode: str
) -> Tested:
    """Run visible and hidden tests on the pristine repository with the model's changes.

    Passed is: exit code 0, a report (report.py) that says so too, every hidden test file passed, and tests of ours
    with a random name beside them came out as they must. Exit code 0 without the rest is `forged_result`.
    """
    refused = _refused(command, mode) or _refused_tests(hidden)
    if refused:
        return refused
    brought = [HiddenTest(str(PurePosixPath(test.path)), test.content) for test in hidden]
    paths = [test.path for test in brought]
    tests = [path for path in paths if is_test_file(path)]
    ours = HiddenTest(f"{_folder_of(tests)}/test_regrade_{secrets.token_hex(8)}.py".removeprefix("./"), _OURS)
    try:
        with _folder() as place:
            changes = tree.build(pristine, workspace, place / "tree")
            for test in (*brought, ours):
                tree.put_test(place / "tree", test.path, test.content)
            found = Hidden(paths, tests, ours.path)
            run, report, altered = _reported(place / "tree", command, mode, found, changes)
    except (SandboxError, OSError) as error:
        return Tested(False, "sandbox_error", str(error))
    about = run.about | ({"left_out": changes.left_out[:20]} if changes.left_out else {})
    reason, detail = judge(run, report, found, altered)
    if reason and changes.left_out:
        detail += f"; without {', '.join(changes.left_out[:5])}, which a model may not bring along"
    return Tested(not reason, reason, detail, run.output, about)


def _reported(
    folder: Path, command: TestCommand, mode: str, hidden: Hidden, changes: tree.Changes
) -> tuple[Run, dict[str, Any] | None, list[str]]:
    """A run, what pytest reported of it, and which test code is not as it was before."""
    order = {
        "root": root_of(folder, mode),
        "hidden": [*hidden.all, hidden.ours],
        "named": [*hidden.tests, hidden.ours],
        "last": hidden.ours,
        "changed": [*changes.added, *changes.changed],
        "added": [name for name in changes.added if name not in hidden.all and (folder / name).is_file()],
    }
    before = tree.test_code(folder)
    with channel(order) as told:
        run = run_pytest(folder, command.argv, command.timeout_s, mode, told, order["hidden"])
        report = told.report()
    after = tree.test_code(folder)
    return run, report, [name for name, content in before.items() if after.get(name) != content]


def _folder_of(tests: list[str]) -> str:
    """Where our own test lies: beside the first hidden one, so that the same configuration holds for both."""
    return str(PurePosixPath(tests[0]).parent) if tests else "tests"


def _refused(command: TestCommand, mode: str) -> Tested | None:
    """Why nothing is run at all."""
    words = command.argv
    if isinstance(words, str) or not words or not any("pytest" in str(word) for word in words):
        return Tested(False, "tests_failed", f"test_command is {words!r:.100}, expected a list of words with pytest")
    if mode == "off":
        return Tested(False, "code_not_allowed", "code that a model wrote is not run (code_execution: off)")
    missing = sandbox.available() if mode == "sandboxed" else None
    return Tested(False, "code_not_allowed", f"code does not run here: {missing}") if missing else None


def _refused_tests(hidden: Sequence[HiddenTest]) -> Tested | None:
    for test in hidden:
        if not test.path.strip("./ ") or is_outside(test.path):
            said = f"hidden test {test.path!r} is no path inside the repository, expected one"
            return Tested(False, "tests_failed", said)
    return None


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="regrade-tests-"))
    try:
        yield place
    finally:
        remove(place)
