"""Scoring lines by the tables of task suites."""

import tempfile
from pathlib import Path
from typing import Any

from regrade.cli.scoring.judges import judge_of
from regrade.errors import FaultsError, RegradeError
from regrade.formats.suite import SuiteTask, load_task
from regrade.judge import JudgeError
from regrade.scorers.suite.assess import Assessed, assess
from regrade.scorers.suite.scored import Response, Tools
from regrade.scorers.suite.thinking import split_thinking
from regrade.statuses import status_of

FAILING = "__raise__"
"""What stands for a judge whose call fails."""


class Scorer:
    """Scores one line after the other."""

    REQUIRED: tuple[str, ...] = ("id", "task")

    def __init__(self, models: Path, judge: str | None) -> None:
        self._models = models
        self._judge = judge

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The verdict on a line's answer."""
        try:
            with tempfile.TemporaryDirectory(prefix="regrade-score-") as folder:
                found = self._assess(asked, Path(folder))
        except FaultsError as error:
            found = _unjudged(str(error))
        except RegradeError as error:
            found = _unjudged(str(error))
        verdict = {"score": found.score, "passed": found.passed, "status": found.status, "reason": found.reason or None}
        return {**verdict, "detail": found.detail, **({"about": found.about} if found.about else {})}

    def _assess(self, asked: dict[str, Any], folder: Path) -> Assessed:
        if not isinstance(asked["task"], dict):
            raise RegradeError(f"task is {asked['task']!r:.100}, expected a mapping with its scoring")
        task = _with_files(load_task(asked["task"]), asked.get("fixture_files"), folder)
        tools = Tools("off" if asked.get("allow_code_exec") is False else "sandboxed", self._asked_judge(asked))
        if task.scoring_type == "agent_loop":
            from regrade.harnesses.loop.replay import score_turns

            return score_turns(task, list(asked.get("turns") or []), Path(task.fixture or folder), tools)
        return assess(task, list(_responses(asked)), tools)

    def _asked_judge(self, asked: dict[str, Any]) -> Any:
        if asked.get("judge_enabled") is False:
            return None
        if asked.get("judge_reply") is not None:
            return Replied(asked["judge_reply"])
        return judge_of(self._models, self._judge)


class Replied:
    """A judge whose reply is known."""

    about = {"model": None, "prompt_version": None}  # noqa: RUF012 (never changed)

    def __init__(self, reply: str) -> None:
        self._reply = reply

    def ask(self, *_: Any, **__: Any) -> str:
        """The reply. Raises JudgeError where it stands for a call that failed."""
        if self._reply == FAILING:
            raise JudgeError("the judge gave no answer")
        return self._reply


def _unjudged(detail: str) -> Assessed:
    return Assessed(None, None, status_of("grader_error"), "grader_error", detail)


def _with_files(task: SuiteTask, files: dict[str, str] | None, folder: Path) -> SuiteTask:
    """The task with the repository that the line brings, at `{fixture}` in its scoring."""
    from dataclasses import replace

    for name, content in (files or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", errors="surrogateescape")
    named = task.scoring.get("repo_fixture")
    if not isinstance(named, str):
        return task
    place = str(folder) if named == "{fixture}" else named
    return replace(task, fields={**task.fields, "scoring": {**task.scoring, "repo_fixture": place}}, fixture=place)


def _responses(asked: dict[str, Any]) -> list[Response]:
    errors = asked.get("errors") or {}
    texts = asked.get("responses")
    if not isinstance(texts, list):
        texts = [asked.get("response") or ""]
    found = []
    for place, text in enumerate(texts):
        failed = asked.get("error") or errors.get(str(place))
        visible, thinking = split_thinking(str(text if text is not None else ""))
        logprobs = asked.get("top_logprobs")
        pairs = [(str(token), float(value)) for token, value in logprobs] if logprobs is not None else None
        found.append(Response(visible, thinking, top_logprobs=pairs, error=str(failed) if failed else ""))
    return found
