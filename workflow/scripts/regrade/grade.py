"""Stage `grade`: one trial's workspace to grade/<case>/rep-NNN.json.

    python -m regrade.grade SPEC      JSON, as the rule hands it over (plan.grade_spec)

Starts from the trial's outcome: a trial that ended in an error or was not run is passed on ungraded. What the grader
printed goes to verify/<case>/. Verdicts of other graders or code on the same trial are kept beside the new one
(verdicts.py).
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from regrade import digests, files, sandbox, specification, verdicts
from regrade.errors import StaleError, ending_in_one_line
from regrade.graders import GraderLimits, grade_workspace
from regrade.verdicts import Verdict, failed


def main(spec_text: str) -> None:
    """Grade the trial of one specification and write its grade. Raises StaleError for a grader that was edited."""
    spec = specification.read(spec_text)
    trial = files.read_json(Path(spec["trial"]))
    attempted = trial["status"] == "ok"
    if attempted:
        _refuse_changed(spec)
        verdict = verdicts.with_hint(_graded(spec, trial), trial["reason"], trial["message"])
        _refuse_changed(spec)
    else:
        verdict = verdicts.passed_on(trial)
    _keep_output(spec, verdict)
    ran_in = {"mode": spec["sandbox"], "bounds": verdict.bounds} if attempted else None
    made_from = {**trial["digests"], **spec["digests"]}
    verdicts.write("grade", spec, made_from, verdict, attempted=attempted, ran_in=ran_in)


def _refuse_changed(spec: dict[str, Any]) -> None:
    """A grade must not carry the digest of a grader that did not give it."""
    grader = Path(spec["task"]["grader"])
    if digests.of_folder(grader) != spec["digests"]["grader"]:
        raise StaleError(f"{grader}: changed while it was graded; run again")


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
    missing = sandbox.available() if verdict.reason == "sandbox_error" and spec["sandbox"] == "bubblewrap" else None
    if missing:
        return replace(
            verdict, status="not_run", reason="code_not_allowed", message=f"code does not run here: {missing}"
        )
    return verdict


def _keep_output(spec: dict[str, Any], verdict: Verdict) -> None:
    """What the grader printed, bounded by the sandbox; no file for nothing."""
    for name, content in (("stdout", verdict.stdout), ("stderr", verdict.stderr)):
        path = Path(spec["logs"]) / f"{Path(spec['output']).stem}.{name}.log"
        path.unlink(missing_ok=True)
        if content:
            files.write_bytes(path, content)


if __name__ == "__main__":
    with ending_in_one_line("the grade"):
        main(*sys.argv[1:])
