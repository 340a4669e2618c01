"""Type `numeric`: the answer holds the expected number, or with `values` all of several."""

from fractions import Fraction
from typing import Any

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract, math_equality
from regrade.scorers.suite.normalised import expected, shown, text_of
from regrade.scorers.suite.numbers import MOST, Number, as_count, find, parse
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong

_OPEN = (None, "closest")
"""Ways to find the number that look at all of an answer's, the parts of fractions and powers among them."""

_FROM_TEXT = ("boxed", "choice", "json")


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """The number that `extract` finds is within `tolerance` (absolute, 0) or `relative_tolerance` of the expected one.

    Without `extract` the number closest to the expected one counts; an answer that holds others too is `ambiguous`.
    """
    scoring = task.scoring
    if scoring.get("equality") == "math":
        found = extract.answer(task, response)
        if found is None:
            return extract.nothing(task, response)
        return math_equality.score(text_of(expected(scoring)), found)
    several = isinstance(scoring.get("values"), list)
    said = scoring["values"] if several else [expected(scoring)]
    goals = [number for value in said if (number := parse(value, scoring.get("decimal", ".")))]
    if not goals or len(goals) < len(said):
        return wrong(f"the task expects no number: {', '.join(shown(text_of(value)) for value in said[:8])}")
    reach = [as_count(scoring.get(name, 0)) for name in ("tolerance", "relative_tolerance")]
    if any(bound is None or bound < 0 for bound in reach):
        return wrong("the task's tolerance or relative_tolerance is no number from 0 upwards")
    numbers = _candidates(response.text, scoring, several)
    if not numbers:
        return wrong(f"no number in {shown(response.text)}", "invalid_format")
    if len(numbers) > MOST:
        return wrong(f"more than {MOST} numbers, expected an answer", "invalid_format")
    return _all(goals, numbers, scoring) if several else _one(goals[0], numbers, scoring)


def _candidates(text: str, scoring: dict[str, Any], several: bool) -> list[Number]:
    """The numbers that may be the answer; those of a box, a choice or a JSON value only from there."""
    how, decimal = scoring.get("extract"), scoring.get("decimal", ".")
    if how in _FROM_TEXT:
        pieces = extract.boxes(text) if how == "boxed" and several else [extract.text(text, how) or ""]
        numbers = [number for piece in pieces for number in find(piece, decimal) if not number.part]
        return numbers if several else numbers[:1]
    return [number for number in find(text, decimal) if how in _OPEN or not number.part]


def _one(goal: Number, numbers: list[Number], scoring: dict[str, Any]) -> Score:
    how, mode = scoring.get("extract"), scoring.get("percent", "strip")
    values = {_value(number, mode) for number in numbers if not number.part}
    if how == "unique" and len(values) > 1:
        return wrong(f"{len(values)} different numbers, expected one", "invalid_format")
    picked = numbers[-1 if how == "last" else 0]
    if how in _OPEN:
        alike = [number for number in numbers if mode != "keep" or number.percent == goal.percent]
        aim = _value(goal, mode)
        picked = min(alike or numbers, key=lambda number: abs(_value(number, mode) - aim))
    ambiguous = how in _OPEN and (len(values) > 1 or picked.part)
    about: dict[str, Any] = {"ambiguous": True, "numbers": len(numbers)} if ambiguous else {}
    if _is_near(picked, goal, scoring):
        return right(f"{_said(picked)} is the number expected", **about)
    return wrong(f"{_said(picked)}, expected {_said(goal)}", **about)


def _all(goals: list[Number], numbers: list[Number], scoring: dict[str, Any]) -> Score:
    """Whether each expected number is there; where `extract` picks, also whether no other is."""
    how = scoring.get("extract")
    if how in ("first", "last"):
        numbers = numbers[: len(goals)] if how == "first" else numbers[-len(goals) :]
    missing = [goal for goal in goals if not any(_is_near(number, goal, scoring) for number in numbers)]
    other = [number for number in numbers if not any(_is_near(number, goal, scoring) for goal in goals)]
    about: dict[str, Any] = {"ambiguous": True, "numbers": len(numbers)} if other and how in _OPEN else {}
    if missing:
        return wrong(f"lacks {', '.join(_said(goal) for goal in missing[:8])}", **about)
    if other and how not in _OPEN:
        return wrong(f"holds {_said(other[0])} too, expected only {', '.join(_said(goal) for goal in goals[:8])}")
    return right(f"holds all {len(goals)} numbers expected", **about)


def _value(number: Number, mode: str) -> Fraction:
    return number.value / 100 if number.percent and mode == "as_fraction" else number.value


def _is_near(number: Number, goal: Number, scoring: dict[str, Any]) -> bool:
    """Compared exactly, as the decimals that were written: 0.3 and 0.4 are 0.1 apart."""
    mode = scoring.get("percent", "strip")
    if mode == "keep" and number.percent != goal.percent:
        return False
    tolerance, relative = (as_count(scoring.get(name, 0)) for name in ("tolerance", "relative_tolerance"))
    value, aim = _value(number, mode), _value(goal, mode)
    if not tolerance and not relative:
        return value == aim
    return abs(value - aim) <= max(Fraction(repr(tolerance)), Fraction(repr(relative)) * abs(aim))


def _said(number: Number) -> str:
    sign = "%" if number.percent else ""
    if number.value.denominator == 1 and abs(number.value) < 10**30:
        return f"{number.value.numerator}{sign}"
    try:
        return f"{float(number.value)!r}{sign}"
    except OverflowError:
        return f"a number of more than 300 digits{sign}"
