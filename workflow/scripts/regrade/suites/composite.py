"""One number over all categories: each category's mean score, weighted by how much it asks of a model."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from regrade.statistics import mean
from regrade.suites.headline import is_headline

WEIGHTS = {
    "agent_loop": 1.8,
    "repo_patch": 1.6,
    "coding": 1.5,
    "agentic": 1.4,
    "math": 1.2,
    "reasoning": 1.2,
    "knowledge": 1.0,
    "instruction_following": 1.0,
    "summarization": 0.8,
    "writing": 0.8,
}
"""By category; any other weighs 1. They are those that users of the format compare by."""


class Composite(NamedTuple):
    """`value` is 0 to 1, None where tasks lack a score; `done` of `intended` tasks have one."""

    value: float | None
    done: int
    intended: int


def composite(rows: Iterable[dict[str, Any]], intended: Iterable[str] = ()) -> Composite:
    """The composite of one arm's records. `intended` names tasks that should be there beside those of the rows.

    Every trial of every task, smoke tests too, must have a score; the value is taken over the headline ones.
    """
    rows = list(rows)
    wanted = {*intended, *(row["task"] for row in rows)}
    unscored = {row["task"] for row in rows if row["score"] is None}
    done = {row["task"] for row in rows} - unscored
    value = _value(rows) if rows and done == wanted else None
    return Composite(value, len(done), len(wanted))


def _value(rows: list[dict[str, Any]]) -> float | None:
    by_category: dict[str, list[float]] = {}
    for row in rows:
        if is_headline(row):
            by_category.setdefault(str(row["category"]).strip().lower(), []).append(row["score"])
    weights = {name: WEIGHTS.get(name, 1.0) for name in by_category}
    if not weights:
        return None
    return sum(weights[name] * (mean(scores) or 0.0) for name, scores in by_category.items()) / sum(weights.values())
