"""Wrong artifacts that the grader must reject: the six general mutations and one breach of each rule."""

from __future__ import annotations

import json
from collections.abc import Callable

from swebench.artifact_negative import NegativeCase, default_negative_cases

Answer = dict[str, object]


def on_answer(change: Callable[[Answer], object]) -> Callable[[str], str]:
    """Return a mutation of the artifact's text that lets change edit the parsed answer."""

    def mutate(text: str) -> str:
        answer = json.loads(text)
        change(answer)
        return json.dumps(answer, indent=1) + "\n"

    return mutate


def move(total_cost: int, **jobs: str) -> Callable[[str], str]:
    """Return a mutation that places jobs (their ids with _ for -) elsewhere and says another total_cost."""
    moved = {job.replace("_", "-"): machine for job, machine in jobs.items()}

    def change(answer: Answer) -> None:
        answer["placement"].update(moved)
        answer["total_cost"] = total_cost

    return on_answer(change)


NEGATIVE_CASES = [
    *default_negative_cases(),
    NegativeCase(name="machine_overloaded", mutate=move(1625, ledger_1="m7"), expected_substring="rule 2"),
    NegativeCase(name="ssd_ignored", mutate=move(1758, search_2="m2"), expected_substring="rule 3"),
    NegativeCase(name="replicas_together_but_cheaper", mutate=move(1615, maps_1="m4"), expected_substring="rule 4"),
    NegativeCase(name="no_failover", mutate=move(1865, ledger_1="m3"), expected_substring="rule 5"),
    NegativeCase(
        name="allowed_but_dearer", mutate=move(1880, ledger_1="m2"), expected_substring="there is a cheaper one"
    ),
    NegativeCase(name="flattering_total", mutate=move(1600), expected_substring="total_cost is not what it costs"),
    NegativeCase(
        name="job_left_out",
        mutate=on_answer(lambda answer: answer["placement"].pop("auth-1")),
        expected_substring="rule 1",
    ),
    NegativeCase(name="unknown_machine", mutate=move(1625, auth_1="m10"), expected_substring="id of a machine"),
    NegativeCase(
        name="total_as_text",
        mutate=on_answer(lambda answer: answer.update(total_cost="1625")),
        expected_substring="integer",
    ),
]
