"""Whether a run of tests is a pass: what its exit code says, held against the report from inside."""

from typing import Any, NamedTuple

from regrade.repository_tests.pytest_run import Run

_OURS = {"passed": 1, "xfailed": 1}
"""How our own tests (running.py) come out where nobody tampered with them."""


class Hidden(NamedTuple):
    """Hidden files by their names: all of them, those that are tests by their names, and our own test."""

    all: list[str]
    tests: list[str]
    ours: str


def judge(run: Run, report: dict[str, Any] | None, hidden: Hidden, altered: list[str]) -> tuple[str, str]:
    """A reason of statuses.TABLE, empty for a pass, and a sentence. `altered` is test code that the run changed."""
    said = report or {}
    if run.outcome.exit_code != 0:
        failed = said.get("failed") or []
        named = f"; failed: {', '.join(failed[:5])}" if failed else f"; {run.output[-200:]}" if run.output else ""
        return "tests_failed", run.ending + named
    forged = _forged(report, said.get("files", {}).get(hidden.ours), altered)
    if forged:
        return "forged_result", f"the tests ended with exit code 0, but {forged}"
    short = [path for path in hidden.tests if not _passed(said["files"].get(path, {}))]
    if not hidden.tests and hidden.all and not any(_passed(said["files"].get(path, {})) for path in hidden.all):
        short = hidden.all
    if short:
        return "tests_failed", f"no test of {', '.join(short[:5])} passed"
    return "", f"{said['passed'] - _OURS['passed']} tests passed, hidden files among them: {len(hidden.all)}"


def _forged(report: dict[str, Any] | None, ours: dict[str, int] | None, altered: list[str]) -> str:
    """Why an exit code of 0 is not believed."""
    if report is None:
        return "pytest did not come to its own end"
    if report["exit"] != 0 or report["failed"]:
        return f"pytest's own was {report['exit']}; failed: {', '.join(report['failed'][:5])}"
    if ours != _OURS:
        return f"our own tests beside them came out as {ours or 'not run'}, expected {_OURS}"
    if altered:
        return f"test code was changed while it ran: {', '.join(altered[:5])}"
    if report["skipped"]:
        return f"the code under test skipped {', '.join(report['skipped'][:5])}"
    return ""


def _passed(counts: dict[str, int]) -> bool:
    return counts.get("passed", 0) > 0 and not counts.get("failed")
