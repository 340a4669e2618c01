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


def split_largest(rows: Rows) -> None:
    """Take one record out of the first customer, as if a link had been missed."""
    lone = rows[0]["members"].pop()
    rows.append(dict(rows[0], customer_id=lone, members=[lone]))


def join_two(rows: Rows) -> None:
    """Put the first two customers together, as if a link that is refused had been taken."""
    second = rows.pop(1)
    rows[0]["members"] = sorted(rows[0]["members"] + second["members"])
    rows[0]["customer_id"] = rows[0]["members"][0]


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="reversed_rows", mutate=on_rows(Rows.reverse), expected_substring="order"),
    NegativeCase(name="link_missed", mutate=on_rows(split_largest), expected_substring="groups"),
    NegativeCase(name="refused_link_taken", mutate=on_rows(join_two), expected_substring="groups"),
    NegativeCase(name="customer_dropped", mutate=on_rows(lambda rows: rows.pop()), expected_substring="groups"),
    NegativeCase(
        name="customer_twice", mutate=on_rows(lambda rows: rows.append(dict(rows[0]))), expected_substring="repeat"
    ),
    NegativeCase(
        name="members_unsorted", mutate=on_rows(lambda rows: rows[0]["members"].reverse()), expected_substring="members"
    ),
    NegativeCase(
        name="raw_phone", mutate=on_rows(lambda rows: rows[0].update(phone="+49")), expected_substring="phone"
    ),
    NegativeCase(
        name="older_name_survives",
        mutate=on_rows(lambda rows: rows[2].update(name=rows[2]["name"].swapcase())),
        expected_substring="name in 1",
    ),
    NegativeCase(
        name="empty_text_for_null",
        mutate=on_rows(lambda rows: next(row for row in rows if row["email"] is None).update(email="")),
        expected_substring="email in 1",
    ),
    NegativeCase(
        name="active_as_number",
        mutate=on_rows(lambda rows: rows[0].update(active=1)),
        expected_substring="true or false",
    ),
]
