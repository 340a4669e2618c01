"""Scoring the answers of benchpack cases: each mode, the `score` command and the stage that writes grades."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchpack_stages import ScoreStage, vectors
from chat_server import ChatServer
from regrade.config import Config
from regrade.scorers import benchpack as scorers
from regrade.scorers.benchpack import json_schema, regex
from regrade.scorers.bounded import BoundedError, run_bounded

VECTORS = {vector["id"]: vector for vector in vectors("scoring")}
OURS = {
    "sc-js-07": False,
    "sc-js-08": True,
    "sc-js-40": False,
    "sc-js-41": True,
    "sc-js-51": False,
    "sc-js-57": False,
    "sc-js-60": False,
}
"""Where full JSON Schema says something else than the vectors: whether the answer passes."""


def scored(scoring: dict[str, Any] | None, output: str, schema: Any = None) -> dict[str, Any] | None:
    """The row's object."""
    return scorers.score(scoring, output, schema)


def error_of(output: str, schema: dict[str, Any]) -> str:
    """Why an answer does not fit a schema; empty if it does."""
    row = json_schema.score(schema, output).row
    assert bool(row["passed"]) == ("error" not in row)
    return str(row.get("error", ""))


@pytest.mark.parametrize("identifier", [name for name in VECTORS if name not in OURS])
def test_known_answers(identifier: str) -> None:
    """Every known answer comes out: mode, verdict and where an error stands; faults keep the words."""
    asked, expected = VECTORS[identifier]["input"], VECTORS[identifier]["expected"]
    if "raises" in expected:
        words = expected["message"].removesuffix(" is not implemented")
        with pytest.raises(scorers.ScoringFault) as caught:
            scored(asked["scoring"], asked["output"], asked.get("schema"))
        assert words in str(caught.value)
    else:
        row = scored(asked["scoring"], asked["output"], asked.get("schema")) or {}
        assert {key: expected["scoring"][key] for key in ("mode", "passed")} == {
            key: value for key, value in row.items() if key != "error"
        }
        assert ("error" in expected["scoring"]) == ("error" in row)


@pytest.mark.parametrize("identifier", OURS)
def test_our_answers_where_the_standard_says_otherwise(identifier: str) -> None:
    """Full JSON Schema decides where the format's compact subset differs."""
    asked = VECTORS[identifier]["input"]
    row = scored(asked["scoring"], asked["output"], asked["schema"]) or {}
    assert OURS[identifier] is row["passed"]


def test_nothing_is_scored_without_a_mode() -> None:
    """No table, an empty one and mode none give null."""
    assert [None, None, None] == [scored(table, "x") for table in (None, {}, {"mode": "none"})]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"expected": "x"}, "no 'mode'"),
        ({"mode": "contain", "expected": "x"}, "did you mean 'contains'?"),
        ({"mode": ["x"]}, "unknown scoring mode ['x']"),
        ("contains", "expected a table"),
        ({"mode": "contains", "expected": 4}, "'expected' is 4, expected a string"),
        ({"mode": "equals"}, "requires 'expected'"),
        ({"mode": "regex"}, "requires 'pattern'"),
        ({"mode": "regex", "pattern": "a{2,1}"}, "min repeat greater than max repeat"),
        ({"mode": "json-schema"}, "requires its schema"),
        ({"mode": "llm-judge"}, "needs a judge"),
        ({"mode": "llm-judge", "criteria": 3}, "'criteria' is 3"),
    ],
)
def test_faulty_tables(table: Any, words: str) -> None:
    """A table by which nothing can be scored is a fault in words, whatever the answer."""
    with pytest.raises(scorers.ScoringFault) as caught:
        scored(table, "x")
    assert words in str(caught.value)


def test_equals_trims_both_sides() -> None:
    """Blanks and line ends around the answer and around what is expected do not count; those inside do."""
    table = {"mode": "equals", "expected": "  Paris is it\n"}
    verdicts = [(scored(table, text) or {})["passed"] for text in ("\tParis is it \r\n", "Paris  is it", "paris is it")]
    assert [True, False, False] == verdicts


@pytest.mark.parametrize(("pattern", "text"), [("(a+)+$", "a" * 40 + "b"), (r"\s+x", " " * 1_000_000)])
def test_search_without_an_end_is_stopped(monkeypatch: pytest.MonkeyPatch, pattern: str, text: str) -> None:
    """A search that would take hours is ended by its CPU time, also where `re` looks for no signal; no verdict."""
    monkeypatch.setattr(regex, "CPU_S", 0.2)
    found = scorers.assess({"mode": "regex", "pattern": pattern}, text)
    assert found is not None
    assert ("grader_error", False) == (found.reason, found.row["passed"])
    assert "took longer than 0.2 s of CPU time" in found.row["error"]


def test_pattern_in_a_schema_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same limit holds for comparing with a schema."""
    monkeypatch.setattr(json_schema, "CPU_S", 0.2)
    assert "took longer than 0.2 s" in error_of(json.dumps("a" * 40 + "b"), {"pattern": "(a+)+$"})


def test_bounded_work_that_fails() -> None:
    """Bounded work hands on its value, its exception and its death."""
    assert [1, "é"] == run_bounded(lambda: [1, "é"], 1)
    with pytest.raises(BoundedError, match="failed: ZeroDivisionError"):
        run_bounded(lambda: 1 / 0, 1)
    with pytest.raises(BoundedError, match="ended by signal 9"):
        run_bounded(lambda: __import__("os").kill(__import__("os").getpid(), 9), 1)


@pytest.mark.parametrize(
    ("text", "schema", "words"),
    [
        ('{"n": true}', {"properties": {"n": {"type": "integer"}}}, '$.n must be of type "integer"'),
        ('{"n": 1.0}', {"properties": {"n": {"type": "integer"}}}, ""),
        ('{"n": NaN}', {}, "invalid JSON: NaN is no JSON value"),
        ('{"n": 1, "n": 2}', {}, 'invalid JSON: key "n" stands twice in one object'),
        ('{"n": 1} trailing', {}, "invalid JSON: Extra data at line 1, column 10"),
        ("[" * 100_000, {}, "invalid JSON: nested too deep"),
        ("1" + "0" * 400, {"type": "integer", "multipleOf": 0.5}, ""),
        ("0.3", {"multipleOf": 0.1}, ""),
        ("1e999", {"multipleOf": 0.1}, "$ must be a multiple of 0.1"),
        ("1", {"type": "number"}, ""),
        ('"x"', {"format": "date"}, ""),
        ("[1, true, 1.0]", {"uniqueItems": True}, "$ must not hold the same item twice"),
        ("[1, true]", {"uniqueItems": True}, ""),
        ('{"a b": [{"c": 1}]}', {"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"a b": {"items": {
            "properties": {"c": {"type": "string"}}}}}}}}, '$["a b"][0].c must be of type "string"'),
        ('{"a": 1}', {"properties": {"a": {"type": "string"}}, "required": ["b"]}, '$ must have the key "b"'),
        ('{"x1": 1, "y": 2}', {"patternProperties": {"^x": {}}, "additionalProperties": False},
         '$ must not have the keys ["y"]'),
        ('{"a": 1}', {"properties": {"a": False}}, "$ must not hold 1 where nothing is allowed"),
        ("2", {"oneOf": [{"type": "string"}, {"minimum": 3}]}, "$ must fit oneOf"),
        ("1", {"$ref": "http://127.0.0.1:9/schema"}, "schema: expected references within the file"),
        ("1", {"$ref": "#"}, "schema: comparing the answer with it failed: RecursionError"),
    ],
)  # fmt: skip
def test_json_schema(text: str, schema: dict[str, Any], words: str) -> None:
    """The first mismatch is named by its path; JSON is what the standard says, and so are numbers and schemas."""
    found = error_of(text, schema)
    assert found.startswith(words) if words else not found


def score_lines(lines: list[str], *arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """What the command makes of these lines."""
    words = [sys.executable, "-m", "regrade.cli", "score", "--format", "benchpack", *arguments]
    return subprocess.run(words, input="\n".join(lines) + "\n", capture_output=True, text=True, cwd=cwd, timeout=60)


def test_command() -> None:
    """One line of JSON for each line of JSON, in the same order, with the same verdicts; faults are answers too."""
    asked = [{"id": name, **vector["input"]} for name, vector in VECTORS.items()]
    done = score_lines(["", *map(json.dumps, asked), json.dumps({"id": 7, "scoring": None, "output": "x"})])
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (0, "") == (done.returncode, done.stderr)
    assert [*VECTORS, 7] == [answer["id"] for answer in answers]
    assert {"id": 7, "scoring": None} == answers[-1]
    for answer in answers[:-1]:
        expected = VECTORS[answer["id"]]["expected"]
        assert {"id", "error" if "raises" in expected else "scoring"} == set(answer)
        if "scoring" in expected:
            passed = OURS.get(answer["id"], expected["scoring"]["passed"])
            assert passed is answer["scoring"]["passed"]


def test_command_told_wrong() -> None:
    """A line that cannot be understood is answered in its place and makes the exit code 1; misuse makes it 2."""
    done = score_lines(["nonsense", '{"id": 1}', '{"id": 2, "scoring": {"mode": "none"}, "output": 3}'])
    errors = [(answer["id"], answer["error"]) for answer in map(json.loads, done.stdout.splitlines())]
    assert (1, 3) == (done.returncode, len(errors))
    assert errors[0][1].startswith("line 1: Expecting value")
    assert (None, "line 2: has no scoring, output, expected an object with id, scoring, output") == errors[1]
    assert 2 == errors[2][0]
    misused = subprocess.run([sys.executable, "-m", "regrade.cli", "score"], capture_output=True)
    assert 2 == misused.returncode


def test_command_with_a_judge(tmp_path: Path) -> None:
    """A table's judge, or the one of the command line, is asked; without one there is a fault."""
    with ChatServer([{"text": "Fine.\nGRADE: PASS"}]) as server:
        entry = f"adapter: openai-chat, base_url: '{server.base_url}', model: "
        (tmp_path / "models.yaml").write_text(f"one: {{{entry} m1}}\ntwo: {{{entry} m2}}\n")
        tables = [{"mode": "llm-judge"}, {"mode": "llm-judge", "judge": "two"}, {"mode": "llm-judge", "judge": "tow"}]
        lines = [json.dumps({"id": 1, "scoring": table, "output": "x"}) for table in tables]
        done = score_lines(lines, "--judge", "one", "--models", "models.yaml", cwd=tmp_path)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["m1", "m2"] == [answer["scoring"]["judge"]["model"] for answer in answers[:2]]
    assert "has no model 'tow'; did you mean 'two'?" in answers[2]["error"]
    assert "needs a judge" in json.loads(score_lines(lines[:1]).stdout)["error"]


def verdict_of(made: dict[str, Any]) -> tuple[Any, ...]:
    """What a grade says."""
    return made["passed"], made["score"], made["status"], made["reason"]


PARIS = {"mode": "contains", "expected": "Paris"}


@pytest.mark.parametrize(
    ("scoring", "text", "verdict"),
    [
        (PARIS, "Paris.", (True, 1.0, "passed", "")),
        (PARIS, "Rome.", (False, 0.0, "failed", "wrong_answer")),
        ({"mode": "regex", "pattern": "^P"}, "Rome", (False, 0.0, "failed", "wrong_answer")),
        ({"mode": "equals", "expected": "a"}, " a\n", (True, 1.0, "passed", "")),
        ({"mode": "json-schema"}, "[]", (False, 0.0, "failed", "wrong_answer")),
        ({"mode": "json-schema"}, "{", (False, 0.0, "failed", "invalid_format")),
        ({"mode": "none"}, "x", (None, None, "unscored", "no_scoring")),
        (None, "x", (None, None, "unscored", "no_scoring")),
        ({"mode": "regex", "pattern": "("}, "x", (None, None, "error", "grader_error")),
        ({"mode": "llm-judge"}, "x", (None, None, "not_run", "no_judge")),
    ],
)
def test_grades(tmp_path: Path, scoring: dict[str, Any] | None, text: str, verdict: tuple[Any, ...]) -> None:
    """Each outcome has its status and reason, and stands in the grade as it will in the row."""
    stage = ScoreStage(tmp_path, scoring=scoring, schema={"type": "object"})
    stage.answer(text)
    made = stage.run()
    assert verdict == verdict_of(made)
    assert made["passed"] == (made["scoring"] or {"passed": None})["passed"]
    assert (["score grader_error"] if made["status"] == "error" else []) == stage.errors
    assert "detail" in made and ("trial-1", "request-1") == (made["digests"]["trial"], made["digests"]["request"])


def test_failed_call_is_scored_on_empty_text(tmp_path: Path) -> None:
    """A call that failed is an error, not a wrong answer; its row still holds what the empty text scores."""
    stage = ScoreStage(tmp_path, scoring={"mode": "contains", "expected": ""})
    stage.answer("", ok=False, error="HTTP 500: oh")
    made = stage.run()
    assert (None, None, "error", "provider_error") == verdict_of(made)
    assert ("HTTP 500: oh", {"mode": "contains", "passed": True}) == (made["message"], made["scoring"])
    stage.spec["scoring"] = PARIS
    assert {"mode": "contains", "passed": False} == stage.run()["scoring"]
    stage.spec["scoring"] = {"mode": "none"}
    assert None is stage.run()["scoring"]
    assert [] == stage.errors


def test_reply_without_an_answer_is_an_error(tmp_path: Path) -> None:
    """A reply that is no answer (a row that is ok, with the reason beside it) is the provider's doing."""
    stage = ScoreStage(tmp_path, scoring=PARIS)
    stage.answer("", reason="provider_error", message="a page of HTML")
    assert (None, None, "error", "provider_error") == verdict_of(stage.run())


def test_case_that_makes_no_sense_under_its_arm(tmp_path: Path) -> None:
    """What the plan rules out is not run, with the plan's words, and reads no other file."""
    made = ScoreStage(tmp_path, scoring=PARIS, skip="the pack requires streaming").run()
    assert (None, None, "not_run", "not_applicable") == verdict_of(made)
    assert ("the pack requires streaming", None) == (made["message"], made["scoring"])


def test_hints_explain_failures(tmp_path: Path) -> None:
    """An answer that was cut off failed for that reason, and passes if it is right all the same."""
    stage = ScoreStage(tmp_path, scoring=PARIS)
    stage.answer("Rom", reason="truncated", message="at 3 tokens")
    assert (False, 0.0, "failed", "truncated") == verdict_of(stage.run())
    stage.answer("Paris", reason="truncated", message="at 3 tokens")
    assert (True, 1.0, "passed", "") == verdict_of(stage.run())


def test_session_that_broke_wins_over_the_text(tmp_path: Path) -> None:
    """A repo-task that is scored by its text ends as its session did, if that was an error."""
    (tmp_path / "trial.json").write_text(
        json.dumps({"status": "error", "reason": "sandbox_error", "message": "m", "digests": {"trial": "session-1"}})
    )
    stage = ScoreStage(tmp_path, scoring=PARIS, trial=str(tmp_path / "trial.json"))
    stage.answer("Paris")
    made = stage.run()
    assert (None, None, "error", "sandbox_error") == verdict_of(made)
    assert ("session-1", True) == (made["digests"]["trial"], made["scoring"]["passed"])


def test_earlier_verdicts_stay(tmp_path: Path) -> None:
    """Scored by another table, an answer keeps its earlier verdict beside the new one."""
    stage = ScoreStage(tmp_path, scoring=PARIS)
    stage.answer("Rome")
    stage.run()
    stage.spec |= {"scoring": {"mode": "contains", "expected": "Rome"}, "digests": {"grader": "g2", "code": "c"}}
    Path(stage.spec["output"]).unlink()
    made = stage.run()
    assert [(False, "wrong_answer")] == [(row["passed"], row["reason"]) for row in made["earlier"]]


def test_right_repetition_is_scored(tmp_path: Path) -> None:
    """Of several rows the one of the asked repetition counts; a missing one is said by name."""
    stage = ScoreStage(tmp_path, scoring=PARIS)
    stage.answer("Rome")
    second = stage.folder / "task/c/measured.jsonl"
    row = json.loads(second.read_text())
    second.write_text(f"{json.dumps(row)}\n{json.dumps({**row, 'repetition': 2, 'text': 'Paris'})}\n")
    stage.spec["repetition"] = 2
    assert stage.run()["passed"]
    stage.spec["repetition"] = 3
    done = subprocess.run([sys.executable, "-m", "regrade.score", json.dumps(stage.spec)], capture_output=True)
    assert (1, b"has no row of repetition 3\n") == (done.returncode, done.stderr[-27:])


def test_judged(tmp_path: Path) -> None:
    """A judge's verdict stands in the grade; one that cannot be read is asked for anew, not taken from the store."""
    entry: dict[str, Any] = {"adapter": "openai-chat", "model": "m", "max_retries": 0}
    stage = ScoreStage(tmp_path, scoring={"mode": "llm-judge"}, judge={"name": "j", "request": {}}, prompt="Capital?")
    stage.answer("Paris")
    with ChatServer([{"text": "Hm."}, {"text": "Right.\nGRADE: PASS"}, {"text": "GRADE: FAIL"}]) as server:
        models = {"j": {**entry, "base_url": server.base_url}}
        config = Config({}, models, {"results": str(tmp_path / "results")}).to_value()
        made = stage.run(config)
        assert (None, None, "error", "judge_error") == verdict_of(made)
        assert ["score judge_error"] == stage.errors
        stage.run(config)
        assert 1 == server.count
        stage.spec["attempt"] = 1
        made = stage.run(config)
        assert 2 == server.count
    assert (True, 1.0, "passed", "") == verdict_of(made)
    assert {"mode": "llm-judge", "passed": True, "judge": {"model": "m", "prompt_version": 1}} == made["scoring"]
    assert "Right.\nGRADE: PASS" == made["detail"]
    made = stage.run(config)
    assert (None, "judge_error") == (made["passed"], made["reason"])


def test_no_heavy_imports() -> None:
    """Scoring a text imports nothing that costs more than scoring it."""
    heavy = ("jsonschema", "asyncio", "logging", "pandas", "yaml", "aiohttp")
    code = f"import sys, regrade.score, regrade.verify; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout
