"""Stage `ask`: the answers to one shard of suite tasks, or to the rows of one data set, many at once.

    python -m regrade.ask SPEC CONFIG      both JSON, as the rule hands them over

SPEC (plan.suite.ask_spec): arm, set or collection, shard, output, errors, digest, attempt. A row of the output is one
answer: the request as it was sent, the reply as it came, and how the call went. Rows are noted as they come in, so that
a killed job asks only for the rest; and what was noted once, by any job that asks the same model in the same way, is
not asked again. A call that brings no answer is a row of status `error`, not a failed job.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regrade import earlier_answers, files, specification, usage
from regrade.config import ASKS_NOBODY, Config
from regrade.earlier_answers import EarlierAnswers
from regrade.errors import BudgetSpent, InputsError, NotApplicable, RegradeError, SandboxError, ending_in_one_line
from regrade.layout import AnswerPaths
from regrade.plan import Plan, Selection, Trial
from regrade.row_file import Key, Row, RowFile, key_of
from regrade.spending import Spending
from regrade.store import Store, require_room

if TYPE_CHECKING:
    from regrade.models.client import Client
    from regrade.models.types import ChatRequest, ChatResponse


class Question(NamedTuple):
    """One answer that is wanted: a trial's, or one of the samples of pass_at_k."""

    trial: Trial
    sample: int
    digest: str

    @property
    def key(self) -> Key:
        return self.trial.task.id, self.sample


def main(spec_text: str, config_text: str) -> None:
    """Run the stage for one specification under one configuration."""
    spec, config = specification.read(spec_text), Config(**json.loads(config_text))
    plan = Plan(config)
    selection = Selection(spec["arm"], spec["set"], spec["collection"])
    trials, paths = plan.answered(selection, spec["shard"])
    plan.suite.require(spec, plan.ask_spec(selection, spec["shard"])["digest"])
    questions = list(_questions(plan, trials))
    journal = plan.suite.journal(selection, spec["shard"])
    # Answers that are to be had anew are no answers to go on from, but those of this very call are.
    own = journal.with_suffix(".anew.jsonl") if config.cache == "refresh" else journal
    with RowFile(Path(spec["output"]), own) as rows:
        planned = {question.key: question.digest for question in questions}
        given_up = plan.attempts.used_up(paths.errors)

        def stands(row: Row) -> bool:
            made_of = row["digests"]["trial"]
            return planned.get(key_of(row)) == made_of and (row["status"] == "ok" or made_of in given_up)

        kept = rows.keep(stands)
        missing = [question for question in questions if question.key not in kept]
        failed = [row for row in _answers(plan, spec["arm"], missing, rows) if _is_noted(row)]
        _note(failed, paths, config)
        if config.cache == "refresh" or (config.cache == "on" and len(kept) < len(rows.before)):
            earlier_answers.spare(journal, rows.rows())
        rows.finish(planned, journal)


def _questions(plan: Plan, trials: list[Trial]) -> Iterator[Question]:
    for trial in trials:
        for of in plan.suite.rows(trial) if trial.task.source.is_dataset else [trial]:
            digest = plan.suite.trial_digest(of)
            for sample in plan.suite.samples(of):
                yield Question(of, sample, digest)


def _answers(plan: Plan, arm: str, questions: list[Question], rows: RowFile) -> list[Row]:
    """Answer all questions, noting each row as it comes; the rows."""
    answered = [row for question in questions if (row := _without_model(plan, arm, question)) is not None]
    for row in answered:
        rows.add(row)
    done = {key_of(row) for row in answered}
    left = [question for question in questions if question.key not in done]
    return answered + (_ask(plan, arm, left, rows) if left else [])


def _without_model(plan: Plan, arm: str, question: Question) -> Row | None:
    """The row of a question that no model is asked; None for all others."""
    trial = question.trial
    if trial.task.fault:
        return _row(question, status="error", reason="inputs_error", message=trial.task.fault)
    if skip := plan.suite.skip(trial):
        return _row(question, status="not_run", reason="not_applicable", message=skip)
    if plan.config.arms[arm]["harness"] not in ASKS_NOBODY:
        return None
    said = plan.suite.reference(trial.task) if plan.config.arms[arm]["harness"] == "oracle" else ""
    if isinstance(said, list):
        said = said[(question.sample - 1) % len(said)]
    return _row(question, text=said)


def _row(question: Question, **about: Any) -> Row:
    """A row of what is said. What it leaves out is as in a trial in which nothing was done."""
    row = {"task": question.trial.task.id, "repetition": question.sample, "status": "ok", **about}
    return {**row, "digests": {"trial": question.digest, "request": None, **about.get("digests", {})}}


def _ask(plan: Plan, arm: str, questions: list[Question], rows: RowFile) -> list[Row]:
    """Ask the arm's model, as many questions at once as its entry says; the rows."""
    import uvloop

    from regrade.models.protocols import CONVERSATIONS

    adapter = plan.config.models[plan.config.arms[arm]["model"]]["adapter"]
    if adapter not in CONVERSATIONS:
        said = f"adapter {adapter} is for packs alone, expected one of: {', '.join(CONVERSATIONS)}"
        made = [_row(question, status="not_run", reason="not_applicable", message=said) for question in questions]
        for row in made:
            rows.add(row)
        return made
    asking = Asking(plan, arm, rows)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asking.ask_all(questions))
    return asking.rows_made


class Asking:
    """Asks one arm's model."""

    def __init__(self, plan: Plan, arm: str, rows: RowFile) -> None:
        from regrade.models.types import ModelConfig

        config = plan.config
        asked = plan.suite.arm_asked(arm)
        name = asked["model"]["name"]
        self._entry = config.models[name]
        self._override: dict[str, Any] = asked["override"]
        self._model = ModelConfig.from_config(name, self._entry)
        self._earlier = EarlierAnswers(rows.journal, config.cache)
        self._spending = Spending(config.folder("results") / "cache" / "spending", config.budget_usd)
        self._budget_usd = config.budget_usd
        self._in_flight = self._entry.get("max_concurrency", 4)
        self._place = config.folder("results")
        self._rows = rows
        self.rows_made: list[Row] = []

    async def ask_all(self, questions: list[Question]) -> None:
        """Ask them all, so many at once that the next one is sent as soon as an answer is there."""
        from regrade.models.client import open_client

        waiting = iter(questions)

        async def work(client: "Client") -> None:
            for question in waiting:
                row = await self._answer(client, question)
                self._rows.add(row)
                self.rows_made.append(row)

        # What is kept of the answers is the journal: the store would hold each a second time.
        store = Store(None, "only" if self._earlier.mode == "only" else "off")
        opened = open_client(self._model, store, spending=self._spending)
        async with opened as client, asyncio.TaskGroup() as group:
            for _ in range(min(self._in_flight, len(questions))):
                group.create_task(work(client))

    async def _answer(self, client: "Client", question: Question) -> Row:
        from regrade.formats.suite import request
        from regrade.models.types import ChatRequest

        source = question.trial.task.source
        try:
            asked = request.merged(self._model.request, request.parameters(source, self._model.adapter), self._override)
            chat = ChatRequest(request.messages(source), asked)
            digest = client.digest(chat)
        except NotApplicable as error:
            return _row(question, status="not_run", reason="not_applicable", message=str(error))
        except InputsError as error:
            return _row(question, status="error", reason="inputs_error", message=str(error))
        async with self._earlier.alone(digest, question.sample):
            found = self._earlier.find(digest, question.sample)
            if found is not None:
                return _again(question, found)
            row = await self._call(client, question, chat, digest)
            self._earlier.note(row)
        return row

    async def _call(self, client: "Client", question: Question, chat: "ChatRequest", digest: str) -> Row:
        """The row of a question that is put to the model now."""
        try:
            require_room(self._place)
            response = await client.complete(chat, question.sample, digest)
        except BudgetSpent as error:
            return _row(question, status="not_run", reason="budget", message=str(error), budget_usd=self._budget_usd)
        except NotApplicable as error:
            return _row(question, status="not_run", reason="not_applicable", message=str(error))
        except (RegradeError, OSError) as error:
            reason = "sandbox_error" if isinstance(error, SandboxError | OSError) else "provider_error"
            return _row(question, status="error", reason=reason, message=str(error))
        return _row(question, **_of_response(response, self._model.adapter))


def _again(question: Question, found: Row) -> Row:
    """An answer that was given before, as the answer to this question."""
    made_of = {**found["digests"], "trial": question.digest}
    return {**found, "task": question.trial.task.id, "repetition": question.sample, "cached": True, "digests": made_of}


def _of_response(response: "ChatResponse", adapter: str) -> dict[str, Any]:
    """What a row says of an answer; its text is read from the reply when it is scored."""
    took = usage.totals([response], response.timing.wall_s)
    return {
        **{name: _known(value) if isinstance(value, dict) else value for name, value in took.items()},
        "request": response.request_body,
        "reply": response.raw,
        "adapter": adapter,
        "attempts": response.attempts,
        **({"warnings": list(response.warnings)} if response.warnings else {}),
        "digests": {"request": response.digest},
    }


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _is_noted(row: Row) -> bool:
    """Whether a row is to be made again at a later call: what may go away by itself, and what the budget stopped."""
    return row["status"] != "ok" and row["reason"] not in ("inputs_error", "not_applicable")


def _note(failed: list[Row], paths: AnswerPaths, config: Config) -> None:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    for row in failed:
        about = {"task": row["task"], "repetition": row["repetition"], "message": row["message"], "at": at}
        more = {"budget_usd": config.budget_usd} if row["reason"] == "budget" else {}
        noted = {"stage": "ask", "digest": row["digests"]["trial"], "reason": row["reason"], **about, **more}
        files.append_jsonl(paths.errors, noted)


if __name__ == "__main__":
    with ending_in_one_line("the answers"):
        main(*sys.argv[1:])
