"""One run of a repository's tests in the sandbox."""

import contextlib
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regrade import sandbox
from regrade.errors import SandboxError
from regrade.repository_tests import tree
from regrade.repository_tests.protected import is_outside

INSIDE = "/workspace"
_PLUGIN = Path(__file__).with_name("report_plugin.py")
_PLUGIN_FOLDER = "/regrade-report"
_REPORT_BYTES = 1 << 20
_SHOWN = 1000


@dataclass(frozen=True)
class HiddenTest:
    """A file of tests that the model never sees."""

    path: str
    content: str


@dataclass(frozen=True)
class TestCommand:
    """The words that run the tests, `{python}` for the interpreter, and the seconds that they may take."""

    argv: Sequence[str]
    timeout_s: float = 60.0

    __test__ = False


@dataclass(frozen=True)
class Tested:
    """`reason` is a word of statuses.TABLE, empty when passed; `output` is for people and models, one bounded line."""

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
    with _folder() as place:
        tree.copy(workspace, place / "tree")
        try:
            outcome, _ = _run(place / "tree", command, [], mode)
        except SandboxError as error:
            return Tested(False, "sandbox_error", str(error))
    output = _one_line(outcome)
    if outcome.exit_code == 0:
        return Tested(True, "", "the visible tests pass", output, _about(outcome, mode))
    return Tested(False, "tests_failed", _how(outcome), output, _about(outcome, mode))


def run_hidden(
    pristine: Path, workspace: Path, command: TestCommand, hidden: Sequence[HiddenTest], mode: str
) -> Tested:
    """Run visible and hidden tests on the pristine repository with the model's changes.

    Passed is: exit code 0, every hidden test passed, and a test of ours with a random name beside them ran, all as
    reported over a descriptor. Exit code 0 without that report is `forged_result`.
    """
    refused = _refused(command, mode) or _refused_tests(hidden)
    if refused:
        return refused
    with _folder() as place:
        target = place / "tree"
        left_out = tree.build(pristine, workspace, target)
        mark = f"tests/test_regrade_{secrets.token_hex(8)}.py"
        added = [*hidden, HiddenTest(mark, "def test_reached():\n    assert True\n")]
        for test in added:
            path = target / test.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(test.content, encoding="utf-8", errors="surrogateescape")
        try:
            outcome, report = _run(target, command, [test.path for test in added], mode)
        except SandboxError as error:
            return Tested(False, "sandbox_error", str(error))
    about = _about(outcome, mode) | ({"left_out": left_out[:20]} if left_out else {})
    return _judged(outcome, report, [test.path for test in hidden], mark, about)


def _judged(
    outcome: sandbox.Outcome, report: dict[str, str] | None, hidden: list[str], mark: str, about: dict[str, Any]
) -> Tested:
    output = _one_line(outcome)
    if outcome.exit_code != 0:
        failed = [name for name, result in (report or {}).items() if result == "failed"]
        named = f": {', '.join(failed[:5])}" if failed else f"; {output[-200:]}" if output else ""
        return Tested(False, "tests_failed", f"{_how(outcome)}{named}", output, about)
    if report is None or not _passed(report, mark):
        said = "the tests ended with exit code 0 without running to their end"
        return Tested(False, "forged_result", said, output, about)
    missing = [path for path in hidden if not _passed(report, path)]
    if missing:
        return Tested(False, "tests_failed", f"no test of {', '.join(missing)} passed", output, about)
    passed = sum(result == "passed" for result in report.values()) - 1
    return Tested(True, "", f"{passed} tests passed, {len(hidden)} files of them hidden", output, about)


def _passed(report: dict[str, str], path: str) -> bool:
    """Whether tests of a file were run and none failed."""
    found = [result for name, result in report.items() if name.split("::")[0].endswith(path)]
    return "passed" in found and "failed" not in found


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
    outside = [test.path for test in hidden if is_outside(test.path)]
    if not outside:
        return None
    return Tested(
        False, "tests_failed", f"hidden test {outside[0]!r} leads out of the repository, expected a path inside"
    )


def _run(
    target: Path, command: TestCommand, added: list[str], mode: str
) -> tuple[sandbox.Outcome, dict[str, str] | None]:
    """The outcome of one run, and with `added` tests the report on each, None if there is none to be believed."""
    word = secrets.token_hex(32)
    inside = INSIDE if mode == "sandboxed" else str(target)
    plugins = _PLUGIN_FOLDER if mode == "sandboxed" else str(_PLUGIN.parent)
    environment = {"PYTHONPATH": inside, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = [sys.executable if part == "{python}" else str(part) for part in command.argv]
    words += ["-p", "no:cacheprovider"]
    descriptors: dict[int, str] = {}
    with contextlib.ExitStack() as stack:
        reading = -1
        if added:
            words += ["-p", "report_plugin", *_named(command.argv, added, target)]
            environment["PYTHONPATH"] = f"{inside}{os.pathsep}{plugins}"
            reading, descriptors = _channels(stack, word)
        mounts = [sandbox.Mount(target, INSIDE, writable=True)]
        mounts += [sandbox.Mount(_PLUGIN, f"{_PLUGIN_FOLDER}/report_plugin.py")] if added else []
        # The format's environment knows no HOME.
        outcome = sandbox.run(sandbox.Command(
            ["/usr/bin/env", "-u", "HOME", *words], mounts if mode == "sandboxed" else [], inside,
            sandbox.Limits(wall_s=command.timeout_s, memory_mb=2048, processes=128, disk_mb=200, output_kb=64),
            environment, descriptors, mode="bubblewrap" if mode == "sandboxed" else "none",
        ))  # fmt: skip
        return outcome, _report(reading, word) if added else None


def _named(argv: Sequence[str], added: list[str], target: Path) -> list[str]:
    """The added tests by name, where the command names single tests and so would not find them."""
    named = [
        word for word in argv[1:] if (target / str(word).split("::")[0]).exists() and not str(word).startswith("-")
    ]
    return added if named else []


def _channels(stack: contextlib.ExitStack, word: str) -> tuple[int, dict[int, str]]:
    """A descriptor to read the report from, and those that the run inherits."""
    reading, writing = os.pipe()
    source, filled = os.pipe()
    os.write(filled, word.encode())
    os.close(filled)
    for descriptor in (reading, writing, source):
        stack.callback(os.close, descriptor)
    os.set_blocking(reading, False)
    return reading, {writing: "REGRADE_REPORT", source: "REGRADE_WORD"}


def _report(reading: int, word: str) -> dict[str, str] | None:
    content = b""
    with contextlib.suppress(BlockingIOError):
        while len(content) < _REPORT_BYTES and (chunk := os.read(reading, 1 << 16)):
            content += chunk
    try:
        value = json.loads(content)
    except ValueError:
        return None
    outcomes = value.get("outcomes") if isinstance(value, dict) and value.get("word") == word else None
    return outcomes if isinstance(outcomes, dict) else None


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="regrade-tests-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _how(outcome: sandbox.Outcome) -> str:
    if outcome.stopped_by:
        return f"the tests were stopped by the {outcome.stopped_by} limit after {outcome.wall_s:.1f} s"
    return f"the tests ended with exit code {outcome.exit_code}"


def _one_line(outcome: sandbox.Outcome) -> str:
    text = " ".join((outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "replace").split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2 - 3]} ... {text[-_SHOWN // 2 + 2 :]}"


def _about(outcome: sandbox.Outcome, mode: str) -> dict[str, Any]:
    ran_in = {"mode": "bubblewrap" if mode == "sandboxed" else "none", "bounds": outcome.bounds}
    return {"sandbox": ran_in, "in_process": True, "cpu_s": outcome.cpu_s, "wall_s": round(outcome.wall_s, 3)}
