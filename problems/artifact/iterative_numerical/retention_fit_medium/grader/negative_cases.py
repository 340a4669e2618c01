"""Fits that get one thing wrong, and must be told so."""

import json
from collections.abc import Callable

from swebench.artifact_negative import NegativeCase, default_negative_cases


def _rows(change: Callable[[list[dict]], object]) -> Callable[[str], str]:
    def mutate(text: str) -> str:
        return json.dumps(change(json.loads(text)), indent=2) + "\n"

    return mutate


def _moved(key: str, factor: float) -> Callable[[str], str]:
    return _rows(lambda rows: [{**rows[0], key: rows[0][key] * factor}, *rows[1:]])


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="alpha_just_outside", mutate=_moved("alpha", 1.006), expected_substring="basic (alpha)"),
    NegativeCase(name="beta_just_outside", mutate=_moved("beta", 0.994), expected_substring="basic (beta)"),
    NegativeCase(name="share_just_outside", mutate=_moved("s36", 1.01), expected_substring="basic (s36)"),
    NegativeCase(
        name="alpha_and_beta_swapped",
        mutate=_rows(lambda rows: [{**row, "alpha": row["beta"], "beta": row["alpha"]} for row in rows]),
        expected_substring="too far off",
    ),
    NegativeCase(
        name="plans_reversed", mutate=_rows(lambda rows: rows[::-1]), expected_substring="order of their plans"
    ),
    NegativeCase(
        name="one_plan_lost", mutate=_rows(lambda rows: rows[:-1]), expected_substring="not one object for each plan"
    ),
    NegativeCase(
        name="object_by_plan",
        mutate=_rows(lambda rows: {row["plan"]: row for row in rows}),
        expected_substring="no JSON list",
    ),
    NegativeCase(
        name="numbers_as_text",
        mutate=_rows(lambda rows: [{**row, "alpha": str(row["alpha"])} for row in rows]),
        expected_substring="alpha is no number",
    ),
]
