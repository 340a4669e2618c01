"""Wrong artifacts that the grader must reject: the six general mutations and slips typical of this task."""

from __future__ import annotations

import json
from collections.abc import Callable

from swebench.artifact_negative import NegativeCase, default_negative_cases

Rows = list[dict[str, object]]


def on_rows(change: Callable[[Rows], object]) -> Callable[[str], str]:
    """Return a mutation of the artifact's text that lets change edit the parsed rows."""

    def mutate(text: str) -> str:
        rows = [json.loads(line) for line in text.splitlines()]
        change(rows)
        return "".join(json.dumps(row) + "\n" for row in rows)

    return mutate


def swap_tie(rows: Rows) -> None:
    """Exchange two neighbours with the same p95."""
    for index in range(len(rows) - 1):
        if rows[index]["p95_ms"] == rows[index + 1]["p95_ms"]:
            rows[index], rows[index + 1] = rows[index + 1], rows[index]
            return


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="ascending", mutate=on_rows(Rows.reverse), expected_substring="order"),
    NegativeCase(name="ties_the_wrong_way", mutate=on_rows(swap_tie), expected_substring="order"),
    NegativeCase(
        name="last_endpoint_missing",
        mutate=on_rows(lambda rows: rows.pop()),
        expected_substring="1 endpoints are missing",
    ),
    NegativeCase(
        name="endpoint_twice", mutate=on_rows(lambda rows: rows.append(dict(rows[-1]))), expected_substring="repeat"
    ),
    NegativeCase(
        name="count_off", mutate=on_rows(lambda rows: rows[3].update(count=1)), expected_substring="count wrong"
    ),
    NegativeCase(
        name="p95_as_text",
        mutate=on_rows(lambda rows: rows[0].update(p95_ms=str(rows[0]["p95_ms"]))),
        expected_substring="integers",
    ),
    NegativeCase(
        name="count_is_boolean", mutate=on_rows(lambda rows: rows[0].update(count=True)), expected_substring="integers"
    ),
]
