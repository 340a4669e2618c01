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


def renumber(rows: Rows) -> None:
    """Give the rows the steps of their places."""
    for step, row in enumerate(rows, start=1):
        row["step"] = step


def swap_first_two(rows: Rows) -> None:
    """Exchange the packages of the first two batches."""
    rows[0]["packages"], rows[1]["packages"] = rows[1]["packages"], rows[0]["packages"]


def split_cycle(rows: Rows) -> None:
    """Install the members of the first larger batch one by one."""
    place = next(index for index, row in enumerate(rows) if len(row["packages"]) > 1)
    rows[place : place + 1] = [dict(rows[place], packages=[name]) for name in rows[place]["packages"]]
    renumber(rows)


def drop_last(rows: Rows) -> None:
    """Forget the last batch."""
    rows.pop()


def unsort_batch(rows: Rows) -> None:
    """Turn the names of the first larger batch round."""
    next(row for row in rows if len(row["packages"]) > 1)["packages"].reverse()


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="two_batches_swapped", mutate=on_rows(swap_first_two), expected_substring="order"),
    NegativeCase(name="cycle_split", mutate=on_rows(split_cycle), expected_substring="batches"),
    NegativeCase(name="last_batch_missing", mutate=on_rows(drop_last), expected_substring="missing"),
    NegativeCase(name="batch_unsorted", mutate=on_rows(unsort_batch), expected_substring="sorted"),
    NegativeCase(
        name="optional_pulled_in",
        mutate=on_rows(lambda rows: rows[0]["packages"].append("zz-extra")),
        expected_substring="should not be installed",
    ),
    NegativeCase(
        name="total_per_batch",
        mutate=on_rows(lambda rows: rows[1].update(total_kb=rows[1]["total_kb"] - rows[0]["total_kb"])),
        expected_substring="total_kb wrong",
    ),
    NegativeCase(
        name="step_is_boolean", mutate=on_rows(lambda rows: rows[0].update(step=True)), expected_substring="integers"
    ),
]
