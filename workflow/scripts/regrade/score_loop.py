"""Stage `score_loop`: what an agent loop left to grade/<case>/rep-NNN.json, by visible and hidden tests.

    python -m regrade.score_loop SPEC      JSON, as the rule hands it over (plan.suite.score_loop_spec)

The hidden tests come in now, when the model is done and its processes are dead. A loop that did not end with `final`
has failed, whatever it left.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from regrade import files, repository_tests, specification, verdicts
from regrade.errors import ending_in_one_line
from regrade.statuses import status_of
from regrade.verdicts import Verdict, broken, failed


def main(spec_text: str) -> None:
    """Score one trial and write its grade."""
    spec = specification.read(spec_text)
    trial = files.read_json(Path(spec["trial"]))
    progress = dict(trial.get("progress") or {})
    made_of = {**trial["digests"], **spec["digests"]}
    if trial["status"] != "ok":
        verdicts.write("score_loop", spec, made_of, verdicts.passed_on(trial), attempted=False, progress=progress)
        return
    if trial["harness"] == "agent-loop" and progress.get("termination") != "final":
        verdict, ran_in = _unfinished(trial), None
    else:
        verdict, ran_in, passed = _tested(spec, trial)
        if "checks" in progress:
            progress["checks"] = {**progress["checks"], "hidden_tests_passed": passed}
            progress["passed"] = sum(progress["checks"].values())
            progress["share"] = round(progress["passed"] / progress["total"], 4)
    verdicts.write("score_loop", spec, made_of, verdict, attempted=True, ran_in=ran_in, progress=progress)


def _unfinished(trial: dict[str, Any]) -> Verdict:
    termination = (trial.get("progress") or {}).get("termination")
    verdict = failed(trial["reason"] or "tests_failed", f"the loop ended with {termination}, expected final")
    return replace(verdict, message=trial["message"])


def _tested(spec: dict[str, Any], trial: dict[str, Any]) -> tuple[Verdict, dict[str, Any] | None, bool]:
    command = repository_tests.TestCommand(tuple(spec["test_command"]), spec["timeout_s"])
    hidden = [repository_tests.HiddenTest(test["path"], test["content"]) for test in spec["hidden_tests"]]
    tested = repository_tests.run_hidden(
        Path(spec["pristine"]), Path(spec["workspace"]), command, hidden, spec["code_execution"]
    )
    verdict = replace(_verdict(spec, trial, tested), in_process=bool(tested.about.get("in_process")))
    return verdict, tested.about.get("sandbox"), tested.passed


def _verdict(spec: dict[str, Any], trial: dict[str, Any], tested: repository_tests.Tested) -> Verdict:
    if not tested.passed and status_of(tested.reason) != "failed":
        return broken(tested.reason, tested.detail)
    score = float(tested.passed)
    if score >= spec["pass_threshold"]:
        return Verdict(True, score, tested.detail, "passed")
    return verdicts.with_hint(failed(tested.reason, tested.detail), trial["reason"], trial["message"])


if __name__ == "__main__":
    with ending_in_one_line("the grade"):
        main(*sys.argv[1:])
