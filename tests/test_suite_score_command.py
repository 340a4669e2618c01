"""`regrade score --format suite`: every known case through the real command, and lines that nobody should send."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parent / "vectors" / "suite"
TEXT_TYPES = (
    *("numeric", "exact", "contains", "contains_n", "multi_contains", "not_contains", "ends_with", "fuzzy_match"),
    *("word_count", "line_count", "regex", "logprob_choice", "logprob_pick", "dispatch", "json_keys", "json_schema"),
    *("workflow_trace", "pass_at_k", "llm_judge", "rubric_judge"),
)
FAULTY = {"dispatch-001", "dispatch-005", "pass_at_k-027"}
"""Scoring types that there are not: an error, no zero."""

UNREAD = {"llm_judge-007", "llm_judge-015", "llm_judge-018"} | {
    f"rubric_judge-0{n}" for n in ("08", "11", "12", "20", "26")
}
"""Replies of judges that give no verdict, or one out of range, and criteria that are none."""

CODE_OFF = {"pass_at_k-032"}
KEYS = ["id", "score", "passed", "status", "reason", "detail"]


def run(lines: list[Any]) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the rows that the command gives."""
    done = subprocess.run(
        [sys.executable, "-m", "regrade.cli", "score", "--format", "suite"],
        input="".join(f"{json.dumps(line)}\n" for line in lines), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "" == done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def line_of(case: dict[str, Any]) -> dict[str, Any]:
    """A known case as a line of the command."""
    kept = (
        "response",
        "responses",
        "errors",
        "judge_reply",
        "judge_enabled",
        "allow_code_exec",
        "error",
        "top_logprobs",
    )
    task = {"id": case["id"], "category": "c", "prompt": "p", "scoring": case["scoring"], **case.get("task", {})}
    return {"id": case["id"], "task": task, **{name: case[name] for name in kept if name in case}}


def task(**scoring: Any) -> dict[str, Any]:
    return {"id": "t", "category": "c", "prompt": "p", "scoring": scoring}


def repository(**more: Any) -> dict[str, Any]:
    scoring = {"type": "repo_patch", "repo_fixture": "{fixture}", "test_command": ["{python}", "-m", "pytest", "-q"]}
    return {"task": task(**scoring), "response": "x", **more}


def test_the_known_cases_pass_through_the_command() -> None:
    """All that bind have their score but those that yield, and whatever does not pass has a reason and a detail."""
    cases = [json.loads(line) for name in TEXT_TYPES for line in (VECTORS / f"{name}.jsonl").read_text().splitlines()]
    code, rows = run([line_of(case) for case in cases])
    assert (0, len(cases)) == (code, len(rows))
    yielding = {"grader_error": FAULTY, "judge_error": UNREAD, "code_not_allowed": CODE_OFF}
    for case, row in zip(cases, rows, strict=True):
        assert KEYS == list(row)[: len(KEYS)]
        assert (row["status"] == "passed") is (row["passed"] is True) is (row["reason"] is None)
        assert row["detail"] and "\n" not in row["detail"]
        assert (row["status"] in ("error", "not_run")) is (row["score"] is None)
        reason = next((reason for reason, ids in yielding.items() if case["id"] in ids), None)
        if reason:
            assert (case["id"], reason) == (row["id"], row["reason"])
        elif not case.get("questionable"):
            expected = (case["expected"]["score"], case["expected"]["passed"])
            assert (case["id"], expected) == (row["id"], (row["score"], row["passed"]))


@pytest.mark.parametrize(
    ("line", "detail"),
    [
        ({"task": 5}, "task is 5, expected a mapping"),
        ({"task": {"scoring": None}}, "expected a mapping with a type"),
        ({"task": task(type="exact", value="x"), "response": 5}, "response is 5, expected a text"),
        ({"task": task(type="exact", value="x"), "responses": [5]}, "responses has 5, expected texts"),
        ({"task": task(type="exact", value="x"), "response": "x", "errors": [1]}, "errors is [1], expected a mapping"),
        ({"task": task(type="agent_loop"), "turns": "final()"}, "turns is 'final()', expected a list"),
        ({"task": task(type="llm_judge"), "response": "x", "judge_reply": 5}, "judge_reply is 5, expected a text"),
        ({"task": task(type="logprob_choice", value="x"), "top_logprobs": [["x"]]}, "expected pairs of a token and a"),
        (repository(fixture_files={"../evil": "x"}), "'../evil', expected relative paths without .."),
        (repository(fixture_files={"/evil": "x"}), "'/evil', expected relative paths without .."),
        (repository(fixture_files={"a": 5}), "'a', expected relative paths without .. and their texts"),
        (repository(fixture_files={"a": "x", "a/b": "x"}), "'a/b' cannot be written"),
        (repository(fixture_files={"x" * 300: "x"}), "cannot be written"),
    ],
)  # fmt: skip
def test_a_line_that_makes_no_sense_says_what_was_expected(line: dict[str, Any], detail: str) -> None:
    """In its own row, which is an error, and spoils no other."""
    code, (row, other) = run([{"id": 1, **line}, {"id": 2, "task": task(type="exact", value="x"), "response": "x"}])
    assert (0, None, "error", "grader_error", True) == (
        code,
        row["score"],
        row["status"],
        row["reason"],
        other["passed"],
    )
    assert detail in row["detail"]


def test_samples_whose_call_failed_are_not_drawn() -> None:
    """They are no answers of the model."""
    line = {"id": 1, "task": task(type="pass_at_k", k=2, inner_type="exact", value="x"), "responses": ["x", "y", "y"]}
    _, (all_drawn, one_failed) = run([line, {**line, "errors": {"1": "the server was down"}}])
    assert (0.6667, 1.0) == (all_drawn["score"], one_failed["score"])


def test_surrogates_and_nothing_are_answers() -> None:
    """What is no text for a file is one for a scorer; null is an empty answer, as no answer at all."""
    exact = task(type="exact", value="x")
    _, rows = run(
        [
            {"id": 1, "task": exact, "response": "\ud800"},
            {"id": 2, "task": exact, "response": None},
            {"id": 3, "task": exact},
        ]
    )
    assert ["wrong_answer", "no_response", "no_response"] == [row["reason"] for row in rows]


def test_thoughts_are_taken_off_and_ambiguity_is_told() -> None:
    """As in a run."""
    _, (row,) = run([{"id": 1, "task": task(type="numeric", value=9), "response": "<think>8</think>9 or 10"}])
    assert (True, {"ambiguous": True, "numbers": 2}) == (row["passed"], row["about"])


def test_a_judge_that_is_not_configured_or_fails_is_no_zero() -> None:
    """Three ends of the same question."""
    line = {"id": 1, "task": task(type="llm_judge", criteria="Is it right?"), "response": "r"}
    _, rows = run(
        [
            {**line, "judge_reply": "SCORE: 9"},
            {**line, "judge_reply": "__raise__"},
            {**line, "judge_enabled": False},
            line,
        ]
    )
    assert [(0.9, None), (None, "judge_error"), (None, "no_judge"), (None, "no_judge")] == [
        (row["score"], row["reason"]) for row in rows
    ]
