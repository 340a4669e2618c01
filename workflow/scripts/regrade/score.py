"""Stage `score`: one repetition of a pack's case to grade/<case>/rep-NNN.json.

    python -m regrade.score SPEC [CONFIG]      JSON, as the rule hands them over; CONFIG only where a judge is asked

SPEC: task {id, collection, case}, scoring, repetition, output, digests, attempt, errors, digest, and

    measured   the file of measured rows: its text is scored      schema    the parsed schema of mode json-schema
    verify     or what the verify script said (and trial)         judge     the judge as asked (name, request, ...)
    trial      how the session of a repo-task ended               prompt    what a judge is shown of the task
    skip       why the case makes no sense under its arm: then nothing else is read

The grade's `scoring` is the object that stands in the case's row; a case without scoring is `unscored`.
"""

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regrade import digests, files, specification, verdicts
from regrade.errors import BudgetSpent, ending_in_one_line
from regrade.judge import Judge
from regrade.layout import verify_outcome
from regrade.models.types import ModelConfig
from regrade.packs.measured import row_of
from regrade.scorers import benchpack as scorers
from regrade.statuses import status_of
from regrade.store import Store, StoreError
from regrade.verdicts import Verdict, broken, failed

DIGESTS = ("task", "request", "work", "trial", "grader", "code")
VERIFY = "verify-script"


@dataclass(frozen=True)
class Graded:
    """A verdict, and what else a grade says. `attempted` is False where an earlier stage's word is passed on."""

    verdict: Verdict
    digests: dict[str, Any]
    scoring: dict[str, Any] | None
    attempted: bool = True
    repo_task: dict[str, Any] | None = None
    ran_in: dict[str, Any] | None = None


def main(spec_text: str, config_text: str = "") -> None:
    """Score one repetition and write its grade."""
    spec = specification.read(spec_text)
    config = json.loads(config_text or "{}")
    if "skip" in spec:
        graded = Graded(broken("not_applicable", spec["skip"]), {}, None, attempted=False)
    else:
        graded = _verified(spec) if "verify" in spec else _answered(spec, _judge(spec, config))
    made_of = {**dict.fromkeys(DIGESTS), **graded.digests, **spec["digests"]}
    more: dict[str, Any] = {"scoring": graded.scoring, "budget_usd": config.get("budget_usd")}
    more |= {"repo_task": graded.repo_task} if graded.repo_task else {}
    verdicts.write("score", spec, made_of, graded.verdict, attempted=graded.attempted, ran_in=graded.ran_in, **more)


def _answered(spec: dict[str, Any], judge: Judge | None) -> Graded:
    """The verdict on an answer's text. That of a call that failed is empty, and scored for the row's sake only."""
    row = row_of(Path(spec["measured"]), spec["repetition"])
    trial = files.read_json(Path(spec["trial"])) if "trial" in spec else None
    made_of = {"request": row["request"], "work": digests.of_bytes(row["text"].encode("utf-8", "backslashreplace"))}
    made_of["trial"] = trial["digests"]["trial"] if trial else row["digest"]
    ended = _ended(row, trial)
    if ended:
        return Graded(ended, made_of, _scoring_of_nothing(spec, row), attempted=False)
    scored, verdict = _score(spec, row["text"], judge)
    verdict = verdicts.with_hint(verdict, row["reason"], row["message"])
    return Graded(verdict, made_of, scored.row if scored else None, attempted=verdict.reason != "no_judge")


def _ended(row: dict[str, Any], trial: dict[str, Any] | None) -> Verdict | None:
    if trial and trial["status"] != "ok":
        return verdicts.passed_on(trial)
    if not row["ok"] or row["reason"] == "provider_error":
        reason = "budget" if row["reason"] == "budget" else "provider_error"
        return broken(reason, row.get("error") or row["message"])
    return None


def _scoring_of_nothing(spec: dict[str, Any], row: dict[str, Any]) -> dict[str, Any] | None:
    """The row's scoring where there is an error instead of an answer; nobody pays a judge for that."""
    scoring = spec["scoring"]
    if scoring and scoring["mode"] in ("llm-judge", VERIFY):
        return None
    try:
        return scorers.score(scoring, row["text"], spec.get("schema"))
    except scorers.ScoringFault:
        return None


def _score(spec: dict[str, Any], text: str, judge: Judge | None) -> tuple[scorers.Scored | None, Verdict]:
    try:
        scored = scorers.assess(spec["scoring"], text, spec.get("schema"), judge, spec.get("prompt", ""))
    except scorers.NoJudgeFault as fault:
        return None, broken("no_judge", str(fault))
    except scorers.ScoringFault as fault:
        return None, broken("grader_error", str(fault))
    except BudgetSpent as error:
        return None, broken("budget", str(error))
    except (StoreError, OSError) as error:
        return None, broken("sandbox_error", str(error))
    if scored is None:
        return None, broken("no_scoring", "")
    if scored.reason and status_of(scored.reason) != "failed":
        return scored, broken(scored.reason, scored.detail)
    if scored.passed:
        return scored, Verdict(True, 1.0, scored.detail, "passed")
    return scored, failed(scored.reason, scored.detail)


def _judge(spec: dict[str, Any], config_value: dict[str, Any]) -> Judge | None:
    if "judge" not in spec:
        return None
    from regrade.config import Config
    from regrade.spending import Spending

    config, asked = Config(**config_value), spec["judge"]
    model = ModelConfig.from_config(asked["name"], {**config.models[asked["name"]], "request": asked["request"]})
    # An unreadable verdict that is tried again must not come from the store.
    mode = "refresh" if spec["attempt"] and config.cache == "on" else config.cache
    cache = config.folder("results") / "cache"
    return Judge(model, Store(cache, mode), spec["repetition"], Spending(cache / "spending", config.budget_usd))


def _verified(spec: dict[str, Any]) -> Graded:
    """The verdict on a repo-task, from how its verifier ran and how its session ended."""
    verify = Path(spec["verify"])
    trial, outcome, said = (files.read_json(path) for path in (Path(spec["trial"]), verify_outcome(verify), verify))
    if isinstance(said.get("not_applicable"), str) and not outcome["passed"]:
        # The script's own word that this machine lacks what it needs.
        return Graded(broken("not_applicable", said["not_applicable"]), trial["digests"], None, attempted=False)
    ran = outcome["passed"] is not None
    code = outcome["exit_code"]
    graded = Graded(
        _verdict(trial, outcome),
        trial["digests"],
        scoring={"mode": VERIFY, "passed": outcome["passed"]} if ran else None,
        attempted=trial["status"] == "ok" and ran,
        repo_task={"status": "passed" if outcome["passed"] else "failed", "verify_exit_code": code} if ran else None,
        ran_in=outcome["sandbox"],
    )
    about = {"in_process": outcome["in_process"], "cpu_s": outcome["cpu_s"], "wall_s": outcome["wall_s"]}
    return replace(graded, verdict=replace(graded.verdict, **about))


def _verdict(trial: dict[str, Any], outcome: dict[str, Any]) -> Verdict:
    if trial["status"] != "ok":
        return verdicts.passed_on(trial)
    if outcome["passed"] is None:
        return broken(outcome["reason"] or "sandbox_error", outcome["message"])
    how, reason, message = _how(outcome), trial["reason"], trial["message"]
    if reason == "patch_rejected" or outcome["empty_patch"]:
        # Nothing was changed, so a verifier that passes has only shown that it passes whatever is done.
        why = reason if reason in ("patch_rejected", *verdicts.HINTS) else "empty_patch"
        return replace(failed(why, how), message=message)
    verdict = Verdict(True, 1.0, how, "passed") if outcome["passed"] else failed("tests_failed", how)
    return verdicts.with_hint(verdict, reason, message)


def _how(outcome: dict[str, Any]) -> str:
    if outcome["stopped_by"]:
        return f"the verifier was {outcome['message']}"
    return f"the verifier ended with exit code {outcome['exit_code']}"


if __name__ == "__main__":
    with ending_in_one_line("the grade"):
        main(*sys.argv[1:])
