"""Lists of orders that get one thing wrong, and must be told so."""

import json
from collections.abc import Callable

from swebench.artifact_negative import NegativeCase, default_negative_cases


def _changed(state: str, change: Callable[[dict], dict]) -> Callable[[str], str]:
    """A mutation of the first order in the given state."""

    def mutate(text: str) -> str:
        rows = [json.loads(line) for line in text.splitlines()]
        place = next(place for place, row in enumerate(rows) if row["state"] == state)
        rows[place] = {**rows[place], **change(rows[place])}
        return "".join(json.dumps(row) + "\n" for row in rows)

    return mutate


def _swapped(text: str) -> str:
    first, second, *others = text.splitlines()
    return "\n".join([second, first, *others]) + "\n"


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="first_two_swapped", mutate=_swapped, expected_substring="order that was asked for"),
    NegativeCase(
        name="never_placed_left_out",
        mutate=lambda text: "".join(line + "\n" for line in text.splitlines() if '"none"' not in line),
        expected_substring="missing",
    ),
    NegativeCase(
        name="last_twice",
        mutate=lambda text: text + text.splitlines()[-1] + "\n",
        expected_substring="not one row for each",
    ),
    NegativeCase(
        name="expired_is_cancelled",
        mutate=_changed("expired", lambda row: {"state": "cancelled"}),
        expected_substring="state of 1",
    ),
    NegativeCase(
        name="since_without_zone",
        mutate=_changed("paid", lambda row: {"since": row["since"].rstrip("Z")}),
        expected_substring="since of 1",
    ),
    NegativeCase(
        name="balance_as_decimal",
        mutate=_changed("paid", lambda row: {"balance": float(row["balance"])}),
        expected_substring="balance of 1",
    ),
    NegativeCase(
        name="refused_once_more",
        mutate=_changed("delivered", lambda row: {"refused": row["refused"] + 1}),
        expected_substring="refused of 1",
    ),
    NegativeCase(
        name="nothing_refunded",
        mutate=lambda text: "".join(
            json.dumps({**json.loads(line), "refunded": 0}) + "\n" for line in text.splitlines()
        ),
        expected_substring="refunded of",
    ),
    NegativeCase(
        name="more_keys", mutate=_changed("paid", lambda row: {"units": 1}), expected_substring="exactly the keys"
    ),
]
