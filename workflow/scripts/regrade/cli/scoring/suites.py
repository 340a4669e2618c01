"""Scoring lines by the tables of task suites."""

import dataclasses
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

from regrade.cli.scoring.judges import judge_of
from regrade.errors import RegradeError
from regrade.formats.suite import SuiteTask, load_task
from regrade.judge import JudgeError
from regrade.scorers.suite.assess import Assessed, assess
from regrade.scorers.suite.scored import Response, Tools
from regrade.scorers.suite.thinking import split_thinking
from regrade.statuses import status_of

FAILING = "__raise__"
"""What stands for a judge whose call fails."""

_KINDS: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("response", "judge_reply"), (str, "a text")),
    **dict.fromkeys(("responses", "turns", "top_logprobs"), (list, "a list")),
    **dict.fromkeys(("task", "errors", "fixture_files"), (dict, "a mapping")),
    **dict.fromkeys(("judge_enabled", "allow_code_exec"), (bool, "true or false")),
}
"""What the keys of a line hold, where they are not null."""


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
        except RegradeError as error:
            found = _unjudged(str(error))
        verdict = {"score": found.score, "passed": found.passed, "status": found.status, "reason": found.reason or None}
        return {**verdict, "detail": found.detail, **({"about": found.about} if found.about else {})}

    def _assess(self, asked: dict[str, Any], folder: Path) -> Assessed:
        _check(asked)
        task = _with_files(load_task(asked["task"]), asked.get("fixture_files"), folder)
        tools = Tools("off" if asked.get("allow_code_exec") is False else "sandboxed", self._asked_judge(asked))
        if task.scoring_type == "agent_loop":
            from regrade.harnesses.loop.replay import score_turns

            return score_turns(task, asked.get("turns") or [], Path(task.fixture or folder), tools)
        return assess(task, _responses(asked), tools)

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


def _check(asked: dict[str, Any]) -> None:
    """Raises RegradeError for a key that holds something else than it should."""
    for name, (kind, words) in _KINDS.items():
        value = asked.get(name)
        if not isinstance(value, kind) and (value is not None or name == "task"):
            raise RegradeError(f"{name} is {value!r:.100}, expected {words}")


def _with_files(task: SuiteTask, files: dict[str, Any] | None, folder: Path) -> SuiteTask:
    """The task with the repository that the line brings, at `{fixture}` in its scoring."""
    for name, content in (files or {}).items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or not isinstance(content, str):
            raise RegradeError(f"fixture_files has {name!r:.100}, expected relative paths without .. and their texts")
        try:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content.encode("utf-8", "surrogatepass"))
        except (OSError, ValueError) as error:
            raise RegradeError(f"fixture_files: {name!r:.100} cannot be written: {error}") from error
    named = task.scoring.get("repo_fixture")
    if not isinstance(named, str):
        return task
    scoring = {**task.scoring, "repo_fixture": named.replace("{fixture}", str(folder))}
    return dataclasses.replace(task, fields={**task.fields, "scoring": scoring}, fixture=scoring["repo_fixture"])


def _responses(asked: dict[str, Any]) -> list[Response]:
    texts = asked["responses"] if asked.get("responses") is not None else [asked.get("response")]
    errors, found = asked.get("errors") or {}, []
    for place, text in enumerate(texts):
        if not isinstance(text, str | None):
            raise RegradeError(f"responses has {text!r:.100}, expected texts")
        failed = asked.get("error") or errors.get(str(place))
        visible, thinking = split_thinking(text or "")
        error = str(failed) if failed else ""
        found.append(Response(visible, thinking, top_logprobs=_candidates(asked), error=error))
    return found


def _candidates(asked: dict[str, Any]) -> list[tuple[str, float]] | None:
    sent = asked.get("top_logprobs")
    try:
        return None if sent is None else [(str(token), float(logprob)) for token, logprob in sent]
    except (TypeError, ValueError, OverflowError) as error:
        raise RegradeError(f"top_logprobs is {sent!r:.100}, expected pairs of a token and a number") from error
