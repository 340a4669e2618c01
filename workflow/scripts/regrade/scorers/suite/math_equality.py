"""Equality as mathematics, by the package math-verify: 1/2, 0.5 and \\frac{1}{2} are the same."""

from regrade.scorers.bounded import BoundedError, run_bounded
from regrade.scorers.suite.normalised import shown
from regrade.scorers.suite.scored import Score, no_verdict, right, wrong

CPU_S = 10.0


def score(wanted: str, found: str) -> Score:
    """Full marks for equal expressions; without the package no verdict, and the detail says what to install."""
    import logging

    try:
        import math_verify  # type: ignore[import-untyped]
    except ImportError:
        return no_verdict("grader_error", "equality: math needs the package math-verify: pip install 'regrade[math]'")

    def equal() -> bool:
        # The limit is this child's own; the library's would want the main thread's signals, and says so every time.
        logging.disable(logging.WARNING)
        gold, answer = (math_verify.parse(_as_mathematics(text), parsing_timeout=None) for text in (wanted, found))
        return bool(math_verify.verify(gold, answer, timeout_seconds=None))

    try:
        same = run_bounded(equal, CPU_S)
    except BoundedError as error:
        return no_verdict("grader_error", f"comparing {shown(found)} with {shown(wanted)} {error}")
    return (
        right(f"{shown(found)} equals {shown(wanted)}") if same else wrong(f"{shown(found)}, expected {shown(wanted)}")
    )


def _as_mathematics(text: str) -> str:
    """A text marked as mathematics, unless it says itself what in it is."""
    return text if "$" in text or "\\boxed" in text or "\\[" in text or "\\(" in text else f"${text}$"
