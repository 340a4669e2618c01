"""What a grader returns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GradeResult:
    """A verdict: passed or not, a score from 0 to 1, and a sentence for people."""

    passed: bool
    score: float
    detail: str
