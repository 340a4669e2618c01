"""Stage `grade`: one trial's workspace to grade/<case>/rep-NNN.json.

    python -m regrade.grade SPEC      JSON, as the rule hands it over (plan.grade_spec)

Starts from the trial's outcome: a trial that ended in an error or was not run is passed on ungraded. What the grader
printed goes to verify/<case>/. Verdicts of other graders or code on the same trial are kept beside the new one;
Snakemake removes an output before it is made anew, so they lie in rep-NNN.history.jsonl as well.
"""

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regrade import files
from regrade.graders import GraderLimits, Verdict, grade_workspace
from regrade.graders.verdict import failed

SCHEMA_VERSION = 1
LONGEST_DETAIL = 500
LONGEST_MESSAGE = 2000
MOST_EARLIER = 50

HINTS = ("truncated", "no_response", "refusal", "agent_timeout", "budget_exceeded")
"""Ways in which a trial ends early without being over: what it left is graded, and explains a failure."""


def main(spec_text: str) -> None:
    """Grade the trial of one specification and write its grade."""
    spec = json.loads(spec_text)
    trial = files.read_json(Path(spec["trial"]))
    if trial["status"] == "ok":
        verdict = with_hint(_graded(spec, trial), trial["reason"], trial["message"])
        attempted = True
    else:
        verdict = Verdict(None, None, None, trial["status"], trial["reason"], trial["message"])
        attempted = False
    _keep_output(spec, verdict)
    grade = _grade(spec, trial, verdict, attempted)
    if attempted:
        _remember(Path(spec["output"]), grade)
    if attempted and verdict.status == "error":
        row = {"stage": "grade", "digest": spec["digest"], "at": grade["graded_at"]}
        files.append_jsonl(Path(spec["errors"]), {**row, "reason": verdict.reason, "message": grade["message"]})
    files.write_json(Path(spec["output"]), grade)


def _graded(spec: dict[str, Any], trial: dict[str, Any]) -> Verdict:
    output, limits = Path(spec["output"]), spec["limits"]
    artifact = spec["task"]["output_artifact"]
    verdict = grade_workspace(
        grader=Path(spec["task"]["grader"]),
        pristine=Path(spec["pristine"]),
        workspace=Path(spec["workspace"]),
        output_artifact=artifact,
        scratch=output.with_name(f".{output.stem}.grading"),
        limits=GraderLimits(limits["grader_wall_s"], limits["grader_memory_mb"], limits["artifact_mb"]),
        mode=spec["sandbox"],
    )
    if verdict.reason == "missing_artifact" and artifact in trial["special_files"]:
        return failed("invalid_format", f"{artifact} was a fifo, a socket or a device, expected a regular file")
    return verdict


def with_hint(verdict: Verdict, hint: str, message: str) -> Verdict:
    """A verdict in the light of how its trial ended. A hint explains a failure, and never spoils a pass.

    Only an enforced budget does: then the trial failed whatever it left, and the detail says how that was graded.
    """
    if hint not in HINTS or verdict.status == "error":
        return verdict
    about = f"{hint}: {message}" if message else hint
    if verdict.passed and hint == "budget_exceeded":
        detail = f"over its budget; what it left was graded passed, score {verdict.score:g}: {verdict.detail}"
        return replace(verdict, passed=False, score=0.0, detail=detail, status="failed", reason=hint, message=message)
    if verdict.passed:
        return replace(verdict, message=f"passed, though the trial ended with {about}")
    return replace(verdict, reason=hint, message=message)


def _keep_output(spec: dict[str, Any], verdict: Verdict) -> None:
    """What the grader printed, bounded by the sandbox; no file for nothing."""
    for name, content in (("stdout", verdict.stdout), ("stderr", verdict.stderr)):
        path = Path(spec["logs"]) / f"{Path(spec['output']).stem}.{name}.log"
        path.unlink(missing_ok=True)
        if content:
            files.write_bytes(path, content)


def _grade(spec: dict[str, Any], trial: dict[str, Any], verdict: Verdict, attempted: bool) -> dict[str, Any]:
    """The content of the grade file; its schema is workflow/schemas/grade.schema.yaml."""
    digests = {**trial["digests"], **spec["digests"]}
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
        "sandbox": {"mode": spec["sandbox"], "bounds": verdict.bounds} if attempted else None,
        "cpu_s": verdict.cpu_s,
        "wall_s": round(verdict.wall_s, 3),
        "digests": digests,
        "earlier": _earlier(Path(spec["output"]), digests),
        "attempt": spec["attempt"],
        "graded_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _history(output: Path) -> Path:
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


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"the grade cannot be written: {error}")
