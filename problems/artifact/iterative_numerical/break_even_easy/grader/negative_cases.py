"""Lists of prices that get one thing wrong, and must be told so."""

import json
from collections.abc import Callable

from swebench.artifact_negative import NegativeCase, default_negative_cases


def _prices(change: Callable[[float | None], object]) -> Callable[[str], str]:
    def mutate(text: str) -> str:
        rows = [json.loads(line) for line in text.splitlines()]
        return "".join(json.dumps({**row, "price": change(row["price"])}) + "\n" for row in rows)

    return mutate


def _sorted_by_plan(text: str) -> str:
    return "".join(sorted(text.splitlines(keepends=True)))


def _first_price_moved(text: str) -> str:
    first, rest = text.split("\n", 1)
    row = json.loads(first)
    return json.dumps({**row, "price": row["price"] + 0.0007}) + "\n" + rest


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="sorted_by_plan", mutate=_sorted_by_plan, expected_substring="order"),
    NegativeCase(name="one_just_outside", mutate=_first_price_moved, expected_substring="1 of 48 prices wrong"),
    NegativeCase(
        name="rounded_to_cents",
        mutate=_prices(lambda price: None if price is None else round(price, 2)),
        expected_substring="prices wrong",
    ),
    NegativeCase(
        name="zero_for_never", mutate=_prices(lambda price: price or 0), expected_substring="against the rule"
    ),
    NegativeCase(name="prices_as_text", mutate=_prices(str), expected_substring="price is no number"),
    NegativeCase(
        name="last_plan_lost",
        mutate=lambda text: "".join(text.splitlines(keepends=True)[:-1]),
        expected_substring="not one row for each plan",
    ),
]
