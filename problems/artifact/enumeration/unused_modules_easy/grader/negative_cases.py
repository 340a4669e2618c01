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
    """Exchange two neighbours of the same length."""
    for index in range(len(rows) - 1):
        if rows[index]["lines"] == rows[index + 1]["lines"]:
            rows[index], rows[index + 1] = rows[index + 1], rows[index]
            return


def list_used(rows: Rows) -> None:
    """List an entry point as unused."""
    rows.append({"module": "app.server", "lines": 1})


def list_package(rows: Rows) -> None:
    """List the empty file of a package."""
    rows.append({"module": "app.billing.__init__", "lines": 0})


def drop_last(rows: Rows) -> None:
    """Forget the last module."""
    rows.pop()


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="shortest_first", mutate=on_rows(Rows.reverse), expected_substring="order"),
    NegativeCase(name="ties_the_wrong_way", mutate=on_rows(swap_tie), expected_substring="order"),
    NegativeCase(name="used_module_listed", mutate=on_rows(list_used), expected_substring="1 listed ones are none"),
    NegativeCase(name="package_listed", mutate=on_rows(list_package), expected_substring="1 listed ones are none"),
    NegativeCase(name="module_missing", mutate=on_rows(drop_last), expected_substring="1 unused modules are missing"),
    NegativeCase(
        name="module_twice", mutate=on_rows(lambda rows: rows.append(dict(rows[-1]))), expected_substring="repeat"
    ),
    NegativeCase(
        name="path_for_module",
        mutate=on_rows(lambda rows: rows[0].update(module=rows[0]["module"].replace(".", "/") + ".py")),
        expected_substring="missing",
    ),
    NegativeCase(
        name="blank_lines_left_out",
        mutate=on_rows(lambda rows: rows[-1].update(lines=rows[-1]["lines"] - 1)),
        expected_substring="lines wrong",
    ),
    NegativeCase(
        name="lines_as_text", mutate=on_rows(lambda rows: rows[0].update(lines="41")), expected_substring="integer"
    ),
]
