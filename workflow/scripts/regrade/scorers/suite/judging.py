"""What the judged types share: what a judge is shown, and what becomes of a judge that fails."""

from dataclasses import dataclass
from typing import Any

from regrade.errors import BudgetSpent
from regrade.formats.suite.task import SuiteTask
from regrade.judge import Judge, JudgeError
from regrade.scorers.suite.normalised import text_of
from regrade.scorers.suite.scored import Response, Score, no_verdict
from regrade.scorers.suite.thinking import split_thinking
from regrade.store import StoreError

LONGEST = 20_000
"""Characters of each part that a judge is shown; of a longer one it gets the beginning and the end."""

LONGEST_REPLY = 2000
"""Characters of a judge's reply that the record keeps."""


@dataclass(frozen=True)
class Reply:
    """What a judge said, without its thoughts, and what the record keeps of it."""

    text: str
    about: dict[str, Any]

    def unreadable(self, error: JudgeError) -> Score:
        """No verdict: what the judge said cannot be read as one."""
        return no_verdict("judge_error", str(error), judge=self.about)


def material(task: SuiteTask, response: Response, criteria: str) -> dict[str, str]:
    """The parts that a judge is shown, by name."""
    parts = {"task": task.prompt, "criteria": criteria}
    if reference := text_of(task.scoring.get("reference")):
        parts["reference"] = reference
    return {name: _shortened(text) for name, text in {**parts, "answer": response.text}.items()}


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n(here {len(text) - 2 * half} characters are left out)\n{text[-half:]}"


def ask(judge: Judge | None, conversation: list[dict[str, Any]], max_tokens: int, timeout_s: float) -> Reply | Score:
    """The judge's reply, or why there is no verdict."""
    if judge is None:
        return no_verdict("no_judge", "the task needs a judge, and none is configured")
    try:
        text = judge.ask(conversation, max_tokens=max_tokens, timeout_s=timeout_s)
    except JudgeError as error:
        return no_verdict("judge_error", str(error), judge=judge.about)
    except BudgetSpent as error:
        return no_verdict("budget", str(error))
    except StoreError as error:
        return no_verdict("sandbox_error", str(error))
    return Reply(split_thinking(text)[0], {**judge.about, "reply": text[:LONGEST_REPLY]})
