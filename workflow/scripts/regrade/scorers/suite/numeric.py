"""Type `numeric`: the answer holds the expected number."""

import math
from fractions import Fraction
from typing import Any

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract, math_equality
from regrade.scorers.suite.normalised import expected, shown, text_of
from regrade.scorers.suite.numbers import Number, as_count, find, parse
from regrade.scorers.suite.scored import Response, Score, Tools, wrong

_PLACES = ("first", "last", "unique")


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """The number that `extract` finds is within `tolerance` (absolute, 0) or `relative_tolerance` of the expected one.

    Without `extract` the number closest to the expected one counts; an answer that holds others too is `ambiguous`.
    """
    scoring = task.scoring
    if scoring.get("equality") == "math":
        found = extract.text(response.text, scoring.get("extract"))
        return math_equality.score(text_of(expected(scoring)), found or "")
    decimal = "," if scoring.get("decimal") == "," else "."
    wanted = parse(expected(scoring))
    if wanted is None:
        return wrong(f"the task expects no number: {shown(text_of(expected(scoring)))}")
    numbers = _candidates(response.text, scoring.get("extract"), decimal)
    if not numbers:
        return wrong(f"no number in {shown(response.text)}", "no_response" if not response.text else "invalid_format")
    mode = scoring.get("percent", "strip")
    goal = _scaled(wanted, mode)
    values = [_scaled(number, mode) for number in numbers]
    how = scoring.get("extract")
    if how == "unique" and len(set(values)) > 1:
        return wrong(f"{len(set(values))} different numbers, expected one", "invalid_format")
    value = _picked(values, goal, how)
    kept = mode != "keep" or wanted.percent == numbers[values.index(value)].percent
    ambiguous = how in (None, "closest") and len(set(values)) > 1
    about: dict[str, Any] = {"ambiguous": True, "numbers": len(values)} if ambiguous else {}
    if kept and _is_near(value, goal, scoring):
        return Score(1.0, "", f"{_said(value)} is the number expected", about)
    return Score(0.0, "wrong_answer", f"{_said(value)}, expected {_said(goal)}", about)


def _candidates(text: str, how: str | None, decimal: str) -> list[Number]:
    if how in (None, "closest", *_PLACES):
        return find(text, decimal)
    found = extract.text(text, how)
    return find(found, decimal)[:1] if found else []


def _scaled(number: Number, mode: str) -> float | Fraction:
    return number.value / 100 if number.percent and mode == "as_fraction" else number.value


def _picked(values: list[float | Fraction], goal: float | Fraction, how: str | None) -> float | Fraction:
    if how in ("last", "first", "unique"):
        return values[-1 if how == "last" else 0]
    aim = Fraction(goal)
    return min(values, key=lambda value: abs(Fraction(value) - aim))


def _is_near(value: float | Fraction, goal: float | Fraction, scoring: dict[str, Any]) -> bool:
    tolerance, relative = as_count(scoring.get("tolerance", 0)), as_count(scoring.get("relative_tolerance", 0))
    if tolerance is None or relative is None or tolerance < 0:
        return False
    try:
        near, far = float(value), float(goal)
    except OverflowError:
        return value == goal
    if not (math.isfinite(near) and math.isfinite(far)):
        return False
    return abs(near - far) <= max(tolerance, relative * abs(far)) or (not tolerance and not relative and value == goal)


def _said(value: float | Fraction) -> str:
    if isinstance(value, Fraction) and value.denominator == 1 and abs(value.numerator) < 10**30:
        return str(value.numerator)
    try:
        return f"{float(value):.12g}"
    except OverflowError:
        return "a number beyond all measure"
