"""`regrade score --format suite` and `regrade parse-action`: lines in, lines out."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

VECTORS = Path(__file__).parent / "vectors" / "suite"


def run(words: list[str], lines: list[Any]) -> tuple[int, list[Any]]:
    """The exit code and the lines that a command gives."""
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    done = subprocess.run(
        [sys.executable, "-m", "regrade.cli", *words], input=text, capture_output=True, text=True, check=False
    )
    assert "" == done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def task(**scoring: Any) -> dict[str, Any]:
    return {"id": "t", "category": "c", "prompt": "p", "scoring": scoring}


def test_answers_are_scored_one_by_one() -> None:
    """A verdict, a sample's estimate, a judge's reply, and what could not be judged, each with its reason."""
    code, found = run(["score", "--format", "suite"], [
        {"id": 1, "task": task(type="exact", value="x"), "response": "X"},
        {"id": 2, "task": task(type="exact", value="x"), "response": "y"},
        {"id": 3, "task": task(type="pass_at_k", inner_type="exact", value="a", k=3), "responses": list("abbbb")},
        {"id": 4, "task": task(type="llm_judge", criteria="c"), "response": "r", "judge_reply": "SCORE: 9"},
        {"id": 5, "task": task(type="llm_judge", criteria="c"), "response": "r", "judge_reply": "__raise__"},
        {"id": 6, "task": task(type="llm_judge", criteria="c"), "response": "r", "judge_enabled": False},
        {"id": 7, "task": task(type="code_exec"), "response": "x = 1", "allow_code_exec": False},
        {"id": 8, "task": task(type="exact", value="x"), "response": "", "error": "the server is down"},
        {"id": 9, "task": task(type="bogus"), "response": "x"},
        {"id": 10, "task": {"scoring": 5}, "response": "x"},
    ])  # fmt: skip
    assert 0 == code
    assert [
        (1, 1.0, True, "passed", None), (2, 0.0, False, "failed", "wrong_answer"),
        (3, 0.6, False, "failed", "wrong_answer"), (4, 0.9, True, "passed", None),
        (5, None, None, "error", "judge_error"), (6, None, None, "not_run", "no_judge"),
        (7, None, None, "not_run", "code_not_allowed"), (8, None, None, "error", "provider_error"),
        (9, None, None, "error", "grader_error"), (10, None, None, "error", "grader_error"),
    ] == [tuple(row[name] for name in ("id", "score", "passed", "status", "reason")) for row in found]  # fmt: skip
    assert all(row["detail"] for row in found)


def test_a_line_that_is_none_is_told_and_spoils_no_other() -> None:
    """Exit code 1, and an answer for every line."""
    code, found = run(
        ["score", "--format", "suite"], ["nonsense", {"id": 1}, {"id": 2, "task": task(value="x"), "response": "x"}]
    )
    assert (1, 3) == (code, len(found))
    assert "line 1" in found[0]["error"] and "has no task" in found[1]["error"]
    assert found[2]["passed"]


@pytest.mark.parametrize("kind", ["repo_patch", "agent_loop"])
def test_repositories_come_with_the_line(kind: str) -> None:
    """Their files stand where the scoring says {fixture}; turns are a loop's answers."""
    files = {"calc.py": "x = 1\n", "tests/test_calc.py": "import calc\n\ndef test_it():\n    assert calc.x == 2\n"}
    scoring = {"type": kind, "repo_fixture": "{fixture}", "test_command": ["{python}", "-m", "pytest", "-q"]}
    write = json.dumps({"tool": "write_file", "args": {"path": "calc.py", "content": "x = 2\n"}})
    line = {
        "id": kind, "task": task(**scoring), "fixture_files": files,
        "response": json.dumps({"files": {"calc.py": "x = 2\n"}}), "turns": [write, '{"tool": "final", "args": {}}'],
    }  # fmt: skip
    code, (found,) = run(["score", "--format", "suite"], [line])
    assert (0, 1.0, "passed") == (code, found["score"], found["status"])


def test_actions_are_read_from_turns() -> None:
    """Every form that is known; a turn that is none gives null."""
    cases = [json.loads(line) for line in (VECTORS / "action_parse.jsonl").read_text().splitlines()]
    code, found = run(["parse-action"], [{"id": case["id"], "response": case["response"]} for case in cases])
    assert 0 == code
    for case, row in zip(cases, found, strict=True):
        expected = case["expected"].get("action")
        if not case.get("questionable"):
            assert (expected and {"args": {}, **expected}) == row["action"], case["id"]
