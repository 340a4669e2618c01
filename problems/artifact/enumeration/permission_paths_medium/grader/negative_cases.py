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


def swap_neighbours(rows: Rows) -> None:
    """Exchange the last two rows."""
    rows[-2:] = [rows[-1], rows[-2]]


def loop_back(rows: Rows) -> None:
    """Add a path that comes by the same node twice."""
    user, *rest = rows[0]["path"]
    rows.append({"path": [user, *rest[:-1], *rest], "steps": 2 * len(rest) - 1})


def follow_ended_grant(rows: Rows) -> None:
    """Add a path that goes over an edge which does not count."""
    rows.append({"path": [rows[0]["path"][0], "r-100", "*:*"], "steps": 2})


def name_wanted_right(rows: Rows) -> None:
    """Write invoice:delete where a wider right was granted."""
    row = next(row for row in rows if "*" in row["path"][-1])
    row["path"][-1] = "invoice:delete"


def drop_longest(rows: Rows) -> None:
    """Leave out the paths of six edges."""
    rows[:] = [row for row in rows if row["steps"] < 6]


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="two_rows_swapped", mutate=on_rows(swap_neighbours), expected_substring="order"),
    NegativeCase(name="node_twice", mutate=on_rows(loop_back), expected_substring="1 should not be there"),
    NegativeCase(name="ended_grant", mutate=on_rows(follow_ended_grant), expected_substring="1 should not be there"),
    NegativeCase(
        name="wide_right_renamed", mutate=on_rows(name_wanted_right), expected_substring="1 paths are missing"
    ),
    NegativeCase(name="longest_left_out", mutate=on_rows(drop_longest), expected_substring="are missing"),
    NegativeCase(
        name="path_twice", mutate=on_rows(lambda rows: rows.append(dict(rows[0]))), expected_substring="repeat"
    ),
    NegativeCase(
        name="nodes_counted",
        mutate=on_rows(lambda rows: [row.update(steps=len(row["path"])) for row in rows]),
        expected_substring="steps is wrong",
    ),
    NegativeCase(
        name="steps_is_boolean", mutate=on_rows(lambda rows: rows[0].update(steps=True)), expected_substring="integer"
    ),
]
