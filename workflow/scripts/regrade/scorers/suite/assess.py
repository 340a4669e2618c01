"""From answers to a verdict: the one way in, for all scoring types."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict
from regrade.statuses import Status, status_of

TYPES = (
    *("agent_loop", "code_exec", "contains", "contains_n", "ends_with", "exact", "fuzzy_match", "json_keys"),
    *("json_schema", "line_count", "llm_judge", "logprob_choice", "multi_contains", "not_contains", "numeric"),
    *("pass_at_k", "regex", "repo_patch", "rubric_judge", "word_count", "workflow_trace"),
)
LONGEST = 500


@dataclass(frozen=True)
class Assessed:
    """A verdict. `score` (to six digits) and `passed` are None when there is none; `detail` is one line."""

    score: float | None
    passed: bool | None
    status: Status
    reason: str
    detail: str
    about: dict[str, Any] = field(default_factory=dict)


def assess(task: SuiteTask, responses: Sequence[Response], tools: Tools) -> Assessed:
    """The verdict on a task's answer, of pass_at_k on its samples. Never raises, whatever task and answer are."""
    first = responses[0] if responses else Response("")
    if task.scoring_type != "pass_at_k" and first.error:
        return _verdict(task, no_verdict("provider_error", first.error), first)
    return _verdict(task, score(task, responses, tools), first)


def score(task: SuiteTask, responses: Sequence[Response], tools: Tools) -> Score:
    """What the task's scorer says. A scorer that raises has a fault of its own: no verdict, and the others go on."""
    if task.scoring_type not in TYPES or task.scoring_type == "agent_loop":
        return no_verdict("grader_error", f"scoring type {task.scoring_type!r:.60}, expected one that scores a text")
    given = responses if task.scoring_type == "pass_at_k" else (*responses, Response(""))[0]
    try:
        module = importlib.import_module(f"regrade.scorers.suite.{task.scoring_type}")
        found: Score = module.score(task, given, tools)
    except Exception as error:
        return no_verdict("grader_error", f"the scorer {task.scoring_type} raised {type(error).__name__}: {error}")
    return found


def _verdict(task: SuiteTask, found: Score, response: Response) -> Assessed:
    detail = " ".join(found.detail.split())[:LONGEST]
    if found.value is None:
        return Assessed(None, None, status_of(found.reason), found.reason, detail, found.about)
    value = round(found.value, 6)
    if found.value >= task.pass_threshold:
        return Assessed(value, True, "passed", "", detail, found.about)
    return Assessed(value, False, "failed", _reason(task, found, response), detail, found.about)


def _reason(task: SuiteTask, found: Score, response: Response) -> str:
    """Why an answer did not pass: how it ended, where that explains it, else what its scorer says.

    What logprob_choice asks for is one token, so that every answer to it is cut off.
    """
    if response.declined:
        return "refusal"
    if response.truncated and task.scoring_type != "logprob_choice":
        return "truncated"
    if not response.text.strip() and found.reason in ("", "wrong_answer", "invalid_format"):
        return "no_response"
    return found.reason or "wrong_answer"
