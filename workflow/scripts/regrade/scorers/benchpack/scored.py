"""What scoring one answer gives, and the faults of a scoring table."""

from dataclasses import dataclass
from typing import Any

from regrade.errors import RegradeError


class ScoringFault(RegradeError):  # noqa: N818 (a fault is what a user can mend)
    """A scoring table by which nothing can be scored, whatever the answer."""


class NoJudgeFault(ScoringFault):
    """A judge is asked for and none is configured."""


@dataclass(frozen=True)
class Scored:
    """`row` is what stands in run.jsonl as `scoring`: `mode`, `passed`, and `error` where there is more to say.

    `reason` is a word of statuses.TABLE, empty when passed; `detail` says in words what was found. `passed` is None
    when there is no verdict (a judge that cannot be understood).
    """

    row: dict[str, Any]
    reason: str
    detail: str

    @property
    def passed(self) -> bool | None:
        verdict: bool | None = self.row["passed"]
        return verdict


def decided(mode: str, passed: bool, missed: str) -> Scored:
    """An answer that was accepted or not; `missed` says what was wrong if it was not."""
    row = {"mode": mode, "passed": passed}
    return Scored(row, "", "accepted") if passed else Scored(row, "wrong_answer", missed)


def with_error(mode: str, passed: bool | None, reason: str, error: str) -> Scored:
    """An answer that was not accepted for a reason that the row tells."""
    return Scored({"mode": mode, "passed": passed, "error": error}, reason, error)


def wanted_text(scoring: dict[str, Any], key: str) -> str:
    """A key of a table that must be a string. Raises ScoringFault."""
    mode = scoring["mode"]
    if key not in scoring:
        raise ScoringFault(f"scoring mode {mode!r} requires {key!r}")
    value = scoring[key]
    if not isinstance(value, str):
        raise ScoringFault(f"scoring mode {mode!r}: {key!r} is {value!r:.100}, expected a string")
    return value
