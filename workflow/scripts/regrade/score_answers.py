"""Stage `score_answers`: the answers to one shard of suite tasks, or to one data set, to verdicts.

    python -m regrade.score_answers SPEC CONFIG THREADS      the first two JSON, as the rule hands them over

SPEC (plan.suite.score_spec): arm, set or collection, shard, answers, output, errors, digest, attempt. A verdict that
stands is taken over as it is: scoring one task otherwise runs no other task's code and asks no judge about it. No model
that is graded is ever asked here.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regrade import digests, files, specification
from regrade.config import Config
from regrade.errors import ending_in_one_line
from regrade.formats.suite.answer import response_of
from regrade.judge import Judge
from regrade.layout import AnswerPaths
from regrade.models.types import ModelConfig
from regrade.plan import Plan, Selection, Trial
from regrade.plan.suite_tasks import JUDGED, RUNS_CODE
from regrade.row_file import Key, Row, RowFile, key_of, read
from regrade.scorers.suite.assess import Assessed, assess
from regrade.scorers.suite.scored import Tools
from regrade.spending import Spending
from regrade.store import Store
from regrade.verdicts import LONGEST_DETAIL, LONGEST_MESSAGE, MOST_EARLIER

LONGEST_THINKING = 4000
_SLOW = (*RUNS_CODE, *JUDGED, "pass_at_k")
"""Scoring types that wait for others, so that several are worth doing at once."""


def main(spec_text: str, config_text: str, threads: str) -> None:
    """Run the stage for one specification under one configuration."""
    spec, config = specification.read(spec_text), Config(**json.loads(config_text))
    plan = Plan(config)
    selection = Selection(spec["arm"], spec["set"], spec["collection"])
    trials, paths = plan.answered(selection, spec["shard"])
    plan.suite.require(spec, plan.score_spec(selection, spec["shard"])["digest"])
    trials = list(_single(plan, trials))
    answers = read(Path(spec["answers"]))
    with RowFile(Path(spec["output"]), paths.scoring_journal) as rows:
        scoring = Scoring(plan, answers, rows, plan.suite.thinking(spec["arm"]), retrying=bool(spec["attempt"]))
        made_of = {_key(trial): scoring.made_of(trial) for trial in trials}
        kept = rows.keep(lambda row: made_of.get(key_of(row)) == row["digests"] and _stands(row))
        made = scoring.score_all([trial for trial in trials if _key(trial) not in kept], made_of, int(threads))
        _note([row for row in made if key_of(row) not in scoring.passed_on], plan, trials, paths)
        rows.finish(made_of)


def _single(plan: Plan, trials: list[Trial]) -> Iterator[Trial]:
    for trial in trials:
        yield from plan.suite.rows(trial) if trial.task.source.is_dataset else [trial]


def _key(trial: Trial) -> Key:
    return trial.task.id, trial.repetition


def _stands(row: Row) -> bool:
    """Whether a verdict need not be given again, as long as it is made of the same."""
    return row["status"] not in ("error", "not_run")


class Scoring:
    """Scores one shard's answers."""

    def __init__(self, plan: Plan, answers: dict[Key, Row], rows: RowFile, thinking: str, *, retrying: bool) -> None:
        self._plan = plan
        self._answers = answers
        self._rows = rows
        self._thinking = thinking
        self.passed_on: set[Key] = set()
        """Of which trials the verdict is only the asking stage's word."""

        self._tools = Tools(plan.config.code_execution, self._judge(retrying))

    def _judge(self, retrying: bool) -> Judge | None:
        config, asked = self._plan.config, self._plan.suite.judge_asked()
        if asked is None:
            return None
        model = ModelConfig.from_config(asked["name"], {**config.models[asked["name"]], "request": asked["request"]})
        # An unreadable verdict that is tried again must not come from the store.
        mode = "refresh" if retrying and config.cache == "on" else config.cache
        cache = config.folder("results") / "cache"
        return Judge(model, Store(cache, mode), spending=Spending(cache / "spending", config.budget_usd))

    def made_of(self, trial: Trial) -> dict[str, Any]:
        """The digests that the verdict on a trial bears."""
        answers = self._of(trial)
        given = [[row["status"], *map(row.get, ("message", "reply", "text"))] for row in answers]
        return {
            "work": digests.of_value([self._thinking, given]),
            "trial": self._plan.suite.trial_digest(trial),
            **self._plan.suite.grade_digests(trial),
        }

    def _of(self, trial: Trial) -> list[Row]:
        return [self._answers[trial.task.id, sample] for sample in self._plan.suite.samples(trial)]

    def score_all(self, trials: list[Trial], made_of: dict[Key, dict[str, Any]], threads: int) -> list[Row]:
        """The rows of some trials, noted as they are made: first what is quick."""
        quick = [trial for trial in trials if trial.task.source.scoring_type not in _SLOW]
        made = [self._noted(self._score(trial, made_of[_key(trial)])) for trial in quick]
        slow = [trial for trial in trials if trial.task.source.scoring_type in _SLOW]
        if slow:
            with ThreadPoolExecutor(threads) as pool:
                scored = pool.map(lambda trial: self._score(trial, made_of[_key(trial)]), slow)
                made += [self._noted(row) for row in scored]
        return made

    def _noted(self, row: Row) -> Row:
        self._rows.add(row)
        return row

    def _score(self, trial: Trial, made_of: dict[str, Any]) -> Row:
        answers = self._of(trial)
        given = _passed_on(answers)
        if given:
            self.passed_on.add(_key(trial))
        responses = [] if given else [response_of(row, self._thinking) for row in answers]
        assessed = given or assess(trial.task.source, responses, self._tools)
        thinking = "\n".join(response.thinking for response in responses if response.thinking)
        about = {**assessed.about, **({"thinking": thinking[:LONGEST_THINKING]} if thinking else {})}
        verdict = {
            "task": trial.task.id,
            "repetition": trial.repetition,
            "status": assessed.status,
            "reason": assessed.reason,
            "message": "" if assessed.score is not None else assessed.detail[:LONGEST_MESSAGE],
            "passed": assessed.passed,
            "score": assessed.score,
            "detail": None if assessed.score is None else assessed.detail[:LONGEST_DETAIL],
            "about": about,
            "digests": made_of,
        }
        return {**verdict, "earlier": self._earlier(verdict)}

    def _earlier(self, verdict: Row) -> list[Row]:
        """The verdicts that stood here before and were made from something else, oldest first."""
        before = self._rows.before.get((verdict["task"], verdict["repetition"]))
        if before is None or before["digests"] == verdict["digests"] or before["status"] in ("error", "not_run"):
            return before["earlier"] if before else []
        names = ("passed", "score", "detail", "status", "reason", "digests")
        return [*before["earlier"], {name: before[name] for name in names}][-MOST_EARLIER:]


def _passed_on(answers: list[Row]) -> Assessed | None:
    """The verdict where no answer was given that could be scored: the asking stage's word."""
    missing = [row for row in answers if row["status"] != "ok"]
    stopped = next((row for row in missing if row["status"] == "not_run"), None)
    if stopped is None and len(missing) < len(answers):
        return None
    row = stopped or missing[0]
    return Assessed(None, None, row["status"], row["reason"], row["message"], {})


def _note(made: Iterable[Row], plan: Plan, trials: list[Trial], paths: AnswerPaths) -> None:
    """Note verdicts that could not be given: what may go away by itself, or with another machine, is tried again."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    planned = {_key(trial): trial for trial in trials}
    for row in made:
        if row["score"] is None and row["status"] != "unscored" and row["reason"] != "no_judge":
            digest = plan.suite.scoring_digest(planned[key_of(row)])
            about = {name: row[name] for name in ("task", "repetition", "reason", "message")}
            about |= {"budget_usd": plan.config.budget_usd} if row["reason"] == "budget" else {}
            files.append_jsonl(paths.scoring_errors, {"stage": "score_answers", "digest": digest, "at": at, **about})


if __name__ == "__main__":
    with ending_in_one_line("the verdicts"):
        main(*sys.argv[1:])
