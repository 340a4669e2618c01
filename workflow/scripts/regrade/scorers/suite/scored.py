"""What a scorer is given, and what it gives."""

from dataclasses import dataclass, field
from typing import Any

from regrade.judge import Judge


@dataclass(frozen=True)
class Response:
    """A model's answer. `text` is what is scored: without its thoughts, trimmed. A call that failed has an `error`."""

    text: str
    thinking: str = ""
    truncated: bool = False
    declined: bool = False
    top_logprobs: list[tuple[str, float]] | None = None
    """Candidates for the one token that logprob_choice asks for, with their log-probabilities; None if none came."""

    error: str = ""


@dataclass(frozen=True)
class Tools:
    """What scorers that run code or ask a judge may use. `code_execution`: sandboxed, unsandboxed or off."""

    code_execution: str = "sandboxed"
    judge: Judge | None = None


@dataclass(frozen=True)
class Score:
    """`value` is 0 to 1, None when there is no verdict. `reason` is a word of statuses.TABLE, empty for full marks.

    `detail` says in one line what was found. `about` goes into the record beside the score: `ambiguous` (numeric),
    `judge`, `checks`, `sandbox`, ...
    """

    value: float | None
    reason: str
    detail: str
    about: dict[str, Any] = field(default_factory=dict)


def right(detail: str = "accepted", **about: Any) -> Score:
    """Full marks."""
    return Score(1.0, "", detail, about)


def wrong(detail: str, reason: str = "wrong_answer", **about: Any) -> Score:
    """No marks, for an answer that was read and not accepted, or (invalid_format) could not be read."""
    return Score(0.0, reason, detail, about)


def partly(value: float, detail: str, reason: str = "wrong_answer", **about: Any) -> Score:
    """Some marks; full ones need no reason."""
    return Score(value, "" if value >= 1 else reason, detail, about)


def no_verdict(reason: str, detail: str, **about: Any) -> Score:
    """No marks because nobody could judge: `reason` is one of status error or not_run."""
    return Score(None, reason, detail, about)
