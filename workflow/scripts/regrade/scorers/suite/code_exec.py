"""Type `code_exec`: the answer's Python code and the task's tests behind it run to their end and print PASS."""

import contextlib
import json
import os
import secrets
import tempfile
from pathlib import Path
from typing import Any

from regrade import sandbox
from regrade.errors import SandboxError
from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite.code_block import code_of
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, partly, right, wrong

CPU_S = 10.0
WALL_FACTOR = 3
"""By the clock a program may take so many times its CPU limit: a busy machine fails nobody."""

MEMORY_MB = 512
_RUNNER = Path(__file__).with_name("code_runner.py")
_INSIDE = "/regrade/code_runner.py"
PASSED = "PASS"


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Full marks for PASS on stdout, half for ending well without it; nothing if the tests' end was not reached."""
    if tools.code_execution == "off":
        return no_verdict("code_not_allowed", "code that a model wrote is not run (code_execution: off)")
    missing = sandbox.available() if tools.code_execution == "sandboxed" else None
    if missing:
        return no_verdict("code_not_allowed", f"code does not run here: {missing}")
    code = code_of(response.text, task.scoring.get("extract") == "last")
    tests = task.scoring.get("test_code")
    seconds = as_count(task.scoring.get("timeout")) or CPU_S
    try:
        outcome, reached = _run(code, f"print({PASSED!r})" if tests is None else str(tests), seconds, tools)
    except SandboxError as error:
        return no_verdict("sandbox_error", str(error))
    return _scored(outcome, reached, seconds, tools)


def _scored(outcome: sandbox.Outcome, reached: bool, seconds: float, tools: Tools) -> Score:
    mode = "bubblewrap" if tools.code_execution == "sandboxed" else "none"
    about: dict[str, Any] = {"sandbox": {"mode": mode, "bounds": outcome.bounds}, "in_process": True}
    if outcome.stopped_by:
        limit = f"{seconds:g} s of CPU" if outcome.stopped_by == "cpu" else f"the {outcome.stopped_by} limit"
        return wrong(f"stopped by {limit} after {outcome.wall_s:.1f} s by the clock", "tests_failed", **about)
    if outcome.exit_code != 0:
        return wrong(f"ended with exit code {outcome.exit_code}: {_last_line(outcome)}", "tests_failed", **about)
    said = PASSED in outcome.stdout.decode("utf-8", "replace")
    if not reached:
        if said:
            return wrong("says PASS, and ended before the tests did", "forged_result", **about)
        return wrong("ended before the tests did", "tests_failed", **about)
    if said:
        return right("the tests ran to their end and say PASS", **about)
    return partly(0.5, "the tests ran to their end and do not say PASS", "tests_failed", **about)


def _last_line(outcome: sandbox.Outcome) -> str:
    lines = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else "no message"


def _run(code: str, tests: str, seconds: float, tools: Tools) -> tuple[sandbox.Outcome, bool]:
    """How the program ended, and whether it reached its last line."""
    word = secrets.token_hex(32).encode()
    order = json.dumps({"code": code, "tests": tests}).encode()
    sandboxed = tools.code_execution == "sandboxed"
    with contextlib.ExitStack() as stack:
        reading, writing = os.pipe()
        source, filled = os.pipe()
        os.write(filled, word)
        os.close(filled)
        for descriptor in (reading, writing, source):
            stack.callback(os.close, descriptor)
        os.set_blocking(reading, False)
        place = "/tmp" if sandboxed else stack.enter_context(tempfile.TemporaryDirectory())  # noqa: S108 (private)
        outcome = sandbox.run(sandbox.Command(
            ["python", "-I", "-B", _INSIDE if sandboxed else str(_RUNNER)],
            [sandbox.Mount(_RUNNER, _INSIDE)] if sandboxed else [],
            place,
            sandbox.Limits(seconds * WALL_FACTOR, seconds, MEMORY_MB, 64, 64, 64),
            {"TMPDIR": place},
            {writing: "REGRADE_REPORT", source: "REGRADE_WORD"},
            stdin=order,
            mode="bubblewrap" if sandboxed else "none",
        ))  # fmt: skip
        try:
            return outcome, os.read(reading, 200) == word
        except BlockingIOError:
            return outcome, False
