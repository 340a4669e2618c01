"""What every stage that gives a verdict shares: the verdict, hints, the grade file and its history, errors to retry."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regrade import files
from regrade.statuses import Status, status_of

SCHEMA_VERSION = 1
LONGEST_DETAIL = 500
LONGEST_MESSAGE = 2000
MOST_EARLIER = 50

HINTS = ("truncated", "no_response", "refusal", "agent_timeout", "budget_exceeded")
"""Ways in which a trial ends early without being over: what it left is graded, and explains a failure."""


@dataclass(frozen=True)
class Verdict:
    """passed, score and detail are None when there is no verdict; then reason, message and traceback say why."""

    passed: bool | None
    score: float | None
    detail: str | None
    status: Status
    reason: str = ""
    message: str = ""
    traceback: str = ""
    in_process: bool = False
    cpu_s: float | None = None
    """Used inside the sandboxes, by the grader and by agent code that it had run."""
    wall_s: float = 0.0
    stdout: bytes = b""
    stderr: bytes = b""
    bounds: list[str] = field(default_factory=list)


def failed(reason: str, detail: str) -> Verdict:
    """A verdict that needs no grader."""
    return Verdict(False, 0.0, detail, "failed", reason)


def broken(reason: str, message: str) -> Verdict:
    """No verdict: the grader, the sandbox or the disk is to blame."""
    return Verdict(None, None, None, status_of(reason), reason, message)


def with_hint(verdict: Verdict, hint: str, message: str) -> Verdict:
    """A verdict in the light of how its trial ended. A hint explains a failure, and never spoils a pass.

    Only an enforced budget does: then the trial failed whatever it left, and the detail says how that was graded.
    """
    if hint not in HINTS or verdict.passed is None:
        return verdict
    about = f"{hint}: {message}" if message else hint
    if verdict.passed and hint == "budget_exceeded":
        detail = f"over its budget; what it left was graded passed, score {verdict.score:g}: {verdict.detail}"
        return replace(verdict, passed=False, score=0.0, detail=detail, status="failed", reason=hint, message=message)
    if verdict.passed:
        return replace(verdict, message=f"passed, though the trial ended with {about}")
    return replace(verdict, reason=hint, message=message)


def passed_on(trial: dict[str, Any]) -> Verdict:
    """The verdict on a trial that ended in an error or was not run: that, ungraded."""
    return Verdict(None, None, None, trial["status"], trial["reason"], trial["message"])


def write(
    stage: str,
    spec: dict[str, Any],
    digests: dict[str, Any],
    verdict: Verdict,
    *,
    attempted: bool,
    ran_in: dict[str, Any] | None = None,
    budget_usd: float | None = None,
    **more: Any,
) -> None:
    """Write the grade of `spec` (task.id, output, errors, digest, attempt), last after its history and its error row.

    `attempted` is False for a verdict that is only passed on; `ran_in` is the sandbox of whatever graded, `budget_usd`
    the limit on spending, which may have stopped a judge.
    """
    output = Path(spec["output"])
    grade = {**_content(spec, digests, verdict), "sandbox": ran_in, **more}
    if attempted:
        _remember(output, grade)
    # What may go away by itself, or with another machine, is noted so that it is tried again.
    if attempted and verdict.passed is None and verdict.status != "unscored":
        row = {"stage": stage, "digest": spec["digest"], "at": grade["graded_at"]}
        row |= {"budget_usd": budget_usd} if verdict.reason == "budget" else {}
        files.append_jsonl(Path(spec["errors"]), {**row, "reason": verdict.reason, "message": grade["message"]})
    files.write_json(output, grade)


def _content(spec: dict[str, Any], digests: dict[str, Any], verdict: Verdict) -> dict[str, Any]:
    """The content of the grade file; its schema is workflow/schemas/grade.schema.yaml."""
    detail = verdict.detail
    return {
        "schema_version": SCHEMA_VERSION,
        "task": spec["task"]["id"],
        "passed": verdict.passed,
        "score": verdict.score,
        "detail": None if detail is None else detail[:LONGEST_DETAIL],
        "status": verdict.status,
        "reason": verdict.reason,
        "message": verdict.message[:LONGEST_MESSAGE],
        "traceback": verdict.traceback,
        "in_process": verdict.in_process,
        "cpu_s": verdict.cpu_s,
        "wall_s": round(verdict.wall_s, 3),
        "digests": digests,
        "earlier": _earlier(Path(spec["output"]), digests),
        "attempt": spec["attempt"],
        "graded_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _history(output: Path) -> Path:
    """Snakemake removes an output before it is made anew, so earlier verdicts lie beside it as well."""
    return output.with_suffix(".history.jsonl")


def _earlier(output: Path, digests: dict[str, Any]) -> list[dict[str, Any]]:
    """The verdicts that other graders, other code or other work led to, oldest first."""
    rows = [row for row in files.read_jsonl(_history(output)) if row["digests"] != digests]
    return rows[-MOST_EARLIER:]


def _remember(output: Path, grade: dict[str, Any]) -> None:
    """Add the verdict to the history. There is one row for the same digests: the last verdict."""
    row = {name: grade[name] for name in ("passed", "score", "detail", "status", "reason", "digests")}
    rows = [*_earlier(output, grade["digests"]), {**row, "at": grade["graded_at"]}]
    files.write_text(_history(output), "".join(f"{files.to_json(row)}\n" for row in rows))
