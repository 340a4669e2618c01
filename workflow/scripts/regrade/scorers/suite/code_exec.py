"""Type `code_exec`: the answer's Python code and the task's tests behind it run to their end and print PASS.

What is prevented: an answer that ends the process early, in whatever way; one that prints PASS itself before the tests
begin; one that leaves handlers for the end. Both share a process and a name space, as the format has it, so an answer
that takes the trouble can change what the tests use, or report as our program would (repository_tests/report.py).
"""

import tempfile
from pathlib import Path
from typing import Any

from regrade import sandbox
from regrade.errors import SandboxError
from regrade.formats.suite.task import SuiteTask
from regrade.repository_tests.report import channel
from regrade.scorers.suite.code_block import code_of
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, partly, right, wrong

CPU_S = 10.0
WALL_FACTOR = 3
"""By the clock a program may take so many times its CPU limit: a busy machine fails nobody."""

MEMORY_MB = 512
PASSED = "PASS"
_RUNNER = Path(__file__).with_name("code_runner.py")
_INSIDE = "/regrade/code_runner.py"


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Full marks for PASS on stdout, half for ending well without it; nothing if the tests' end was not reached."""
    if tools.code_execution == "off":
        return no_verdict("code_not_allowed", "code that a model wrote is not run (code_execution: off)")
    missing = sandbox.available() if tools.code_execution == "sandboxed" else None
    if missing:
        return no_verdict("code_not_allowed", f"code does not run here: {missing}")
    code = code_of(response.text, task.scoring.get("extract") == "last")
    if not code.strip():
        return wrong("the answer holds no code", "invalid_format" if response.text.strip() else "no_response")
    tests = task.scoring.get("test_code")
    seconds = as_count(task.scoring.get("timeout")) or CPU_S
    limits = sandbox.Limits(seconds * WALL_FACTOR, seconds, MEMORY_MB, processes=64, disk_mb=64, output_kb=64)
    try:
        ran = _run(code, f"print({PASSED!r})" if tests is None else str(tests), limits, tools.code_execution)
    except (SandboxError, OSError) as error:
        return no_verdict("sandbox_error", str(error))
    return _scored(*ran, limits, tools.code_execution)


def _run(code: str, tests: str, limits: sandbox.Limits, mode: str) -> tuple[sandbox.Outcome, bool]:
    """How the program ended, and whether it reached its last line."""
    sandboxed = mode == "sandboxed"
    with channel({"code": code, "tests": tests}) as told, tempfile.TemporaryDirectory() as folder:
        place = "/tmp" if sandboxed else folder  # noqa: S108 (private)
        outcome = sandbox.run(sandbox.Command(
            ["python", "-I", "-B", _INSIDE if sandboxed else str(_RUNNER)],
            [sandbox.Mount(_RUNNER, _INSIDE)] if sandboxed else [],
            place,
            limits,
            {"TMPDIR": place},
            told.descriptors,
            mode="bubblewrap" if sandboxed else "none",
        ))  # fmt: skip
        return outcome, told.report() is not None


def _scored(outcome: sandbox.Outcome, reached: bool, limits: sandbox.Limits, mode: str) -> Score:
    ran_in = {"mode": "bubblewrap" if mode == "sandboxed" else "none", "bounds": outcome.bounds}
    about: dict[str, Any] = {"sandbox": ran_in, "in_process": True}
    if outcome.exit_code != 0:
        return wrong(_ending(outcome, limits), "tests_failed", **about)
    said = PASSED.encode() in outcome.stdout
    if reached and said:
        return right("the tests ran to their end and say PASS", **about)
    if reached:
        return partly(0.5, "the tests ran to their end and do not say PASS", "tests_failed", **about)
    if said or PASSED.encode() in outcome.stderr:
        return wrong("says PASS and exits with 0, and ended before the tests did", "forged_result", **about)
    return wrong("exits with 0, and ended before the tests did", "tests_failed", **about)


def _ending(outcome: sandbox.Outcome, limits: sandbox.Limits) -> str:
    if outcome.stopped_by:
        bound = {"wall": f" of {limits.wall_s:g} s", "cpu": f" of {limits.cpu_s:g} s"}.get(outcome.stopped_by, "")
        return f"stopped by the {outcome.stopped_by} limit{bound} after {outcome.wall_s:.1f} s by the clock"
    how = f"signal {outcome.signal}" if outcome.signal is not None else f"exit code {outcome.exit_code}"
    return f"ended with {how}: {_last_words(outcome.stderr)}"


def _last_words(stderr: bytes) -> str:
    """The last line of a traceback, and the source line above it where the exception says nothing."""
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip(" ^~")]
    if not lines:
        return "no message"
    last = lines[-1].strip()
    above = lines[-2].strip() if len(lines) > 1 and lines[-2].startswith("    ") and last.isidentifier() else ""
    return (f"{last} at {above}" if above else last)[:300]
