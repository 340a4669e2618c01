"""The agent loop of suites: what its tools do, what the model is told, how it ends, and how it goes on after a kill."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer
from regrade import files
from regrade.formats.suite.task import SuiteTask
from regrade.harnesses.loop.files import Files
from regrade.harnesses.loop.replay import score_turns
from regrade.scorers.suite.assess import Assessed
from regrade.scorers.suite.scored import Tools
from suite_loop_support import (
    BROKEN,
    FINAL,
    FIXTURE,
    MEND,
    MENDED,
    SCORING,
    STATS,
    TEST,
    LoopBench,
    action,
    native,
    said,
)  # fmt: skip
from suite_structured_support import vector, vectors

MENDED_CHECKS = {"score": 1.0, "passed": True, "termination": "final"}
OURS: dict[str, dict[str, Any]] = {
    "agent_loop-009": {"score": None, "termination": "api_error", "tools": ["read_file", "write_file"]},
    "agent_loop-011": {**MENDED_CHECKS, "tools": ["bash", "write_file", "final"], "ok": [False, True, True]},
    "agent_loop-036": {**MENDED_CHECKS, "tools": ["list_files", "write_file", "final"], "model_calls": 3},
    "agent_loop-038": {**MENDED_CHECKS, "tools": ["write_file", "final"], "model_calls": 3},
    "agent_loop-040": {**MENDED_CHECKS, "tools": ["list_files", "write_file", "final"]},
    "agent_loop-041": {**MENDED_CHECKS, "tools": ["write_file", "final"], "model_calls": 3},
    "agent_loop-044": {"score": None, "passed": None, "tools": [], "model_calls": 0},
}
"""Our answers: one bad turn is answered, a failed call and code that may not run are nobody's zero."""

CASES = vectors("agent_loop", OURS)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


def score_case(folder: Path, case: dict[str, Any], **scoring: Any) -> Assessed:
    for name, content in case["fixture_files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    table = {**case["scoring"], **scoring}
    task = SuiteTask(case["id"], "tested", {"prompt": "Mend it.", "scoring": table})
    tools = Tools("off" if case.get("allow_code_exec") is False else "sandboxed")
    return score_turns(task, case["turns"], Path(table["repo_fixture"].replace("{fixture}", str(folder))), tools)


def as_expected(found: Assessed, names: Any) -> dict[str, Any]:
    """What was found, under the names of the vectors."""
    progress = {"tools": [], "ok": [], "model_calls": 0, "final_response": "", **found.about.get("progress", {})}
    about = {"score": found.score, "passed": found.passed, "progress_passed": progress.get("passed")}
    values = {**progress, **about, "progress_total": progress.get("total")}
    return {name: values.get(name) for name in names}


@pytest.mark.parametrize("name", CASES)
def test_known_turns_go_as_the_format_says(name: str, tmp_path: Path) -> None:
    """Score, ending, milestones, tools and calls."""
    expected = CASES[name]["expected"]
    assert expected == as_expected(score_case(tmp_path, CASES[name]), expected)


@pytest.mark.parametrize("name", OURS)
def test_turns_that_the_format_s_tool_takes_oddly(name: str, tmp_path: Path) -> None:
    """Bad turns are answered and the loop goes on; what is not the model's doing is no score of 0."""
    assert OURS[name] == as_expected(score_case(tmp_path, vector("agent_loop", name)), OURS[name])


@pytest.mark.parametrize("name", ["agent_loop-011", "agent_loop-038", "agent_loop-041"])
def test_strict_actions_end_a_loop_as_the_format_s_tool_does(name: str, tmp_path: Path) -> None:
    """One unreadable turn, or one unknown tool."""
    case = vector("agent_loop", name)
    found = score_case(tmp_path, case, strict_actions=True)
    assert case["expected"] == as_expected(found, case["expected"])
    assert ("failed", "invalid_format") == (found.status, found.reason)


class TestTools:
    """What the tools do with names and contents."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        for name, content in FIXTURE.items():
            (tmp_path / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "repo" / name).write_text(content)
        (tmp_path / "secret.txt").write_text("secret")
        return tmp_path / "repo"

    def do(self, place: Path, tool: str, **args: Any) -> tuple[bool, str]:
        return tuple(Files(place, guards_tests=True).do(tool, args))  # type: ignore[return-value]

    @pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "out", "way/secret.txt", "a/../../secret.txt",
                                      "..\\secret.txt", "C:\\x", ".git/config", "calc\0/x", "x" * 5000])  # fmt: skip
    def test_nothing_outside_is_read_or_written(self, place: Path, name: str) -> None:
        """By absolute names, `..`, either slash, links to files or folders, and git's own folder."""
        (place / "out").symlink_to(place.parent / "secret.txt")
        (place / "way").symlink_to(place.parent)
        assert [False, False] == [
            self.do(place, "read_file", path=name)[0],
            self.do(place, "write_file", path=name, content="x")[0],
        ]
        assert "secret" == (place.parent / "secret.txt").read_text()
        assert not self.do(place, "list_files", path="way")[0]

    @pytest.mark.parametrize("name", ["tests/test_stats.py", "/workspace/tests/new.py", "x/conftest.py", "Pytest.ini",
                                      "pyproject.toml", "./tests/a", "alias/test_stats.py"])  # fmt: skip
    def test_tests_are_not_written(self, place: Path, name: str) -> None:
        """Nor what configures them, in any case and by any name; the model is told so and may go on."""
        (place / "alias").symlink_to("tests")
        assert (False, f"{name}: belongs to the tests, which may not be changed") == (
            self.do(place, "write_file", path=name, content="")
        )
        assert FIXTURE["tests/test_stats.py"] == (place / "tests/test_stats.py").read_text()

    def test_files_are_written_whole_where_they_are_named(self, place: Path) -> None:
        """Folders are made, /workspace is the place itself, a program stays one, odd signs do not stop it."""
        (place / "run.sh").touch(0o755)
        for name in ("new/a.py", "/workspace/b.py", "run.sh"):
            assert (True, f"wrote 3 characters to {name}") == self.do(
                place, "write_file", path=name, content="é\n\ud800"
            )
        assert [b"\xc3\xa9\n\\ud800"] * 3 == [(place / name).read_bytes() for name in ("new/a.py", "b.py", "run.sh")]
        assert os.access(place / "run.sh", os.X_OK)
        refused = [{"path": "calc"}, {"path": "calc/stats.py/x"}, {"path": ""}, {"path": 5}, {}]
        for args in refused:
            assert not self.do(place, "write_file", content="x", **args)[0]
        assert not self.do(place, "write_file", path="c.py", content={"a": 1})[0]
        assert not self.do(place, "write_file", path="c.py")[0]

    def test_what_a_model_is_shown_is_bounded(self, place: Path) -> None:
        """200 names, 20,000 characters, and what is missing; bytes that are no text, and pipes, are no trouble."""
        for number in range(250):
            (place / f"f{number:03}").touch()
        (place / "__pycache__").mkdir()
        (place / "__pycache__/x.pyc").touch()
        ok, listed = self.do(place, "list_files")
        assert (True, 201, "... and 53 more") == (ok, len(listed.splitlines()), listed.splitlines()[-1])
        assert (True, "calc/__init__.py\ncalc/stats.py") == self.do(place, "list_files", path="calc")
        (place / "long").write_text("é" * 30_000)
        (place / "odd").write_bytes(b"\xff\0a")
        os.mkfifo(place / "pipe")
        assert f"{'é' * 20_000}\n... cut off after 20000 characters" == self.do(place, "read_file", path="long")[1]
        assert (True, "\ufffd\0a") == self.do(place, "read_file", path="odd")
        assert (False, "pipe: is no file") == self.do(place, "read_file", path="pipe")
        assert (True, "the file is empty") == self.do(place, "read_file", path="f000")


class TestConversation:
    """What the model is sent, turn by turn."""

    def told(self, server: ChatServer) -> list[str]:
        messages = server.requests[-1]["body"]["messages"]
        return [message["content"] for message in messages[2:] if message["role"] != "assistant"]

    def test_a_model_mends_a_repository(self, tmp_path: Path, server: ChatServer) -> None:
        """It looks, writes, tests and ends; hidden tests come in when it is done, and were never shown to it."""
        turns = [action("list_files"), action("read_file", path=STATS), TEST, MEND, TEST, FINAL]
        server.script(said(*turns))
        bench = LoopBench(tmp_path, server)
        outcome, grade = bench.run()
        progress = grade["progress"]
        assert (True, 1.0, "final", 7, 6) == (
            grade["passed"], grade["score"], progress["termination"], progress["passed"], progress["model_calls"],
        )  # fmt: skip
        assert (False, 6) == (outcome["progress"]["checks"]["hidden_tests_passed"], outcome["progress"]["passed"])
        assert ("bubblewrap", True) == (outcome["sandbox"]["mode"], outcome["sandbox"]["cpu_s"] > 0)
        assert ("bubblewrap", True) == (grade["sandbox"]["mode"], grade["in_process"])
        first = server.requests[0]["body"]
        assert first["messages"][0]["content"].startswith("Be brief.\n\nYou work on the files in /workspace")
        assert ("Mend the mean.", 2048) == (first["messages"][1]["content"], first["max_tokens"])
        assert "tools" not in first
        listed, read, tested, wrote, again = self.told(server)
        assert ("calc/__init__.py\ncalc/stats.py\ntests/test_stats.py", BROKEN) == (listed, read)
        assert f"wrote {len(MENDED)} characters to {STATS}" == wrote
        assert [True, True] == [
            text.startswith("the visible tests pass: . [100%] 1 passed") for text in (tested, again)
        ]
        assert "secret" not in json.dumps([request["body"] for request in server.requests])
        assert str(tmp_path) not in json.dumps([request["body"] for request in server.requests])
        rows = list(files.read_jsonl(bench.paths().log("transcript.jsonl")))
        assert {"path": STATS, "content": f"{len(MENDED)} characters"} == rows[8]["args"]
        assert 6 == len(list(files.read_jsonl(bench.paths().raw("calls.jsonl", True))))

    def test_a_turn_that_cannot_be_read_is_told_so(self, tmp_path: Path, server: ChatServer) -> None:
        """What was wrong, that it was cut off, that a tool is unknown or a path protected; and the loop goes on."""
        answers: list[dict[str, Any]] = [
            {"text": "Hello <think>run_tests()</think>"}, {"text": ""}, {"text": MEND[:-9], "finish_reason": "length"},
            *said(action("bash", cmd="ls"), action("write_file", path="tests/x.py", content="")),
            *said(f"{MEND}\n{TEST}", FINAL),
        ]  # fmt: skip
        server.script(answers)
        outcome, grade = LoopBench(tmp_path, server).run()
        hello, empty, cut, unknown, protected, two = self.told(server)
        assert hello.startswith("not understood: there is no call of a tool in it. Expected one call, such as {")
        assert empty.startswith("not understood: it is empty")
        assert "cannot be read" in cut and "the turn was cut off at the token limit" in cut
        assert "failed: there is no tool 'bash', expected one of: list_files, read_file" in unknown
        assert "failed: tests/x.py: belongs to the tests, which may not be changed" == protected
        assert two.endswith("\n(only the first call of a turn is carried out)")
        said_back = [message["content"] for message in server.requests[-1]["body"]["messages"][2::2]]
        assert ["Hello", "(nothing)", MEND[:-9]] == said_back[:3]
        assert (True, ["bash", "write_file", "write_file", "final"]) == (grade["passed"], outcome["progress"]["tools"])

    @pytest.mark.parametrize("adapter", ["openai-chat", "openai-responses"])
    @pytest.mark.parametrize("stream", [True, False])
    def test_native_calls_are_answered_each(
        self, tmp_path: Path, server: ChatServer, adapter: str, stream: bool
    ) -> None:
        """Prose beside a call is fine, an empty finish_reason too; calls that are not carried out are told so."""
        mend = native("write_file", "c2", path=STATS, content=MENDED)
        server.script([
            {"text": "Let me final() look.", "tool_calls": [native("list_files", "c1")], "finish_reason": "stop"},
            {"text": "", "tool_calls": [native("bash", "b", cmd="ls"), mend, native("final", "c3")]},
            {"text": "", "tool_calls": [{**native("final", "c4"), "function": {"name": "final", "arguments": "[1"}}]},
            *said(FINAL),
        ])  # fmt: skip
        model = {"adapter": adapter, "stream": stream}
        bench = LoopBench(tmp_path, server, scoring={"native_tools": True}, model=model)
        outcome, grade = bench.run()
        assert (True, ["list_files", "write_file", "final"]) == (grade["passed"], outcome["progress"]["tools"])
        body = server.requests[-1]["body"]
        names = [tool.get("function", tool)["name"] for tool in body["tools"]]
        assert ["list_files", "read_file", "write_file", "run_tests", "final"] == names
        if adapter == "openai-responses":
            assert (False, "auto") == (body["parallel_tool_calls"], body["tool_choice"])
            results = {item["call_id"]: item["output"] for item in body["input"] if "output" in item}
        else:
            results = {item["tool_call_id"]: item["content"] for item in body["messages"] if item["role"] == "tool"}
        assert ["c1", "b", "c2", "c3", "c4"] == list(results)
        assert "calc/__init__.py\ncalc/stats.py\ntests/test_stats.py" == results["c1"]
        assert f"wrote {len(MENDED)} characters to {STATS}" == results["c2"]
        assert {"not carried out: only the first call of a turn is carried out"} == {results["b"], results["c3"]}
        assert results["c4"].startswith("not understood: the arguments of final are no JSON object")

    @pytest.mark.parametrize(
        ("place", "expected"),
        [({"task": {"agent_loop_native_tools": True}}, True), ({"agent_loop_native_tools": True}, True),
         ({"agent_loop_native_tools": True, "scoring": {"native_tools": False}}, False), ({}, False)],
    )  # fmt: skip
    def test_who_says_whether_tools_are_native(
        self, tmp_path: Path, server: ChatServer, place: dict[str, Any], expected: bool
    ) -> None:
        """The scoring, else the task, else the configuration."""
        server.script(said(FINAL))
        LoopBench(tmp_path, server, **place).act()
        assert expected == ("tools" in server.requests[0]["body"])

    def test_a_server_without_tools_is_asked_without(self, tmp_path: Path, server: ChatServer) -> None:
        """One refusal, then text; the record says so, and a replay asks nobody again."""
        refusal = {"status": 400, "body": {"error": {"message": "m does not support tools"}}}
        server.script([{"when": '"tools":', **refusal}, *said(MEND, FINAL)])
        bench = LoopBench(tmp_path, server, scoring={"native_tools": True})
        outcome, grade = bench.run()
        assert (True, 3) == (grade["passed"], server.count)
        assert ["the server takes no tools: actions were asked for in the text form"] == outcome["warnings"]
        assert outcome["progress"] == bench.act()["progress"]
        assert 3 == server.count

    @pytest.mark.parametrize(
        ("settings", "tokens"),
        [({"task": {"max_tokens": 300}}, 300), ({"task": {"max_tokens": 9000}}, 2048),
         ({"scoring": {"action_max_tokens": 5000}}, 5000), ({"model": {"request": {"max_tokens": 77}}}, 77),
         ({"scoring": {"action_max_tokens": 5000}, "arm": {"override": {"max_tokens": 99}}}, 99)],
    )  # fmt: skip
    def test_a_turn_s_tokens_are_bounded(
        self, tmp_path: Path, server: ChatServer, settings: dict[str, Any], tokens: int
    ) -> None:
        """By the scoring's action_max_tokens, else by 2048 and whatever is less; an arm's override holds them all."""
        server.script(said(FINAL))
        LoopBench(tmp_path, server, **settings).act()
        assert tokens == server.requests[0]["body"]["max_tokens"]

    def test_thoughts_are_no_actions(self, tmp_path: Path, server: ChatServer) -> None:
        """Neither in tags nor beside the text; a reasoning that ends with the call in place of an answer is one."""
        server.script([
            {"text": f"<think>{FINAL}</think>{action('list_files')}"},
            {"text": action("read_file", path=STATS), "reasoning": FINAL},
            {"text": "", "reasoning": f"I write it. {MEND}"}, *said(FINAL),
        ])  # fmt: skip
        outcome = LoopBench(tmp_path, server).act()
        assert ["list_files", "read_file", "write_file", "final"] == outcome["progress"]["tools"]
        said_back = [message["content"] for message in server.requests[-1]["body"]["messages"][2::2]]
        assert [action("list_files"), action("read_file", path=STATS), MEND] == said_back

    def test_tags_are_text_where_the_model_s_entry_says_so(self, tmp_path: Path, server: ChatServer) -> None:
        """`thinking: none`."""
        server.script(said(f"<think>\n{MEND}", FINAL))
        outcome = LoopBench(tmp_path, server, model={"thinking": "none"}).act()
        assert ["write_file", "final"] == outcome["progress"]["tools"]


class TestEndings:
    """How a loop ends, and what becomes of it."""

    def ended(self, outcome: dict[str, Any], grade: dict[str, Any]) -> tuple[Any, ...]:
        return outcome["progress"]["termination"], grade["status"], grade["reason"], grade["score"]

    @pytest.mark.parametrize(
        ("turns", "scoring", "expected"),
        [
            ([MEND], {"max_steps": 3}, ("max_steps", "failed", "agent_timeout", 0.0)),
            (["Hello."], {"max_steps": 2}, ("max_steps", "failed", "invalid_format", 0.0)),
            ([""], {"max_steps": 2}, ("max_steps", "failed", "no_response", 0.0)),
            (["Hello.", MEND], {"strict_actions": True}, ("invalid_action", "failed", "invalid_format", 0.0)),
            ([action("bash")], {"strict_actions": True}, ("stopped", "failed", "invalid_format", 0.0)),
            ([FINAL], {}, ("final", "failed", "tests_failed", 0.0)),
            ([MEND, "{\"summary\": \"done\"}"], {}, ("final", "passed", None, 1.0)),
        ],
    )  # fmt: skip
    def test_only_a_loop_that_the_model_ended_can_pass(
        self, tmp_path: Path, server: ChatServer, turns: list[str], scoring: dict[str, Any], expected: tuple[Any, ...]
    ) -> None:
        """Steps used up, turns that end it, and final calls; one without any readable turn says what its turns were."""
        server.script(said(*turns))
        outcome, grade = LoopBench(tmp_path, server, scoring=scoring).run()
        assert expected == (*self.ended(outcome, grade)[:2], grade["reason"] or None, grade["score"])

    def test_a_server_that_fails_is_an_error_and_tried_again(self, tmp_path: Path, server: ChatServer) -> None:
        """The milestones until then are noted; the next try pays only for the rest and tells what it told before."""
        server.script([*said(TEST, MEND), {"status": 500, "body": "gone"}])
        bench = LoopBench(tmp_path, server)
        outcome, grade = bench.run()
        assert ("api_error", "error", "provider_error", None) == self.ended(outcome, grade)
        assert (["run_tests", "write_file"], 3) == (outcome["progress"]["tools"], outcome["progress"]["model_calls"])
        told = server.requests[-1]["body"]["messages"]
        server.script(said(FINAL))
        outcome, grade = bench.run()
        assert ("final", "passed", 4) == (*self.ended(outcome, grade)[:2], server.count)
        assert told == server.requests[-1]["body"]["messages"]

    def test_a_conversation_that_outgrows_the_model_is_truncated(self, tmp_path: Path, server: ChatServer) -> None:
        """After the first answer; that is the model's failure, not the server's."""
        full = {
            "status": 400,
            "body": {"error": {"code": "context_length_exceeded", "message": "maximum context length"}},
        }
        server.script([*said(MEND), full])
        outcome, grade = LoopBench(tmp_path, server).run()
        assert ("context_full", "failed", "truncated", 0.0) == self.ended(outcome, grade)

    def test_time_that_is_used_up_ends_a_loop(self, tmp_path: Path, server: ChatServer) -> None:
        """The model's and the tests' time count together; the loop ends before the next request."""
        server.script(said(TEST, MEND, FINAL))
        slow = ["{python}", "-c", "import time; time.sleep(0.6)  # pytest"]
        settings = {"limits": {"trial_wall_s": 0.5}, "scoring": {"test_command": slow}}
        outcome, grade = LoopBench(tmp_path, server, **settings).run()
        assert ("agent_timeout", "failed", "agent_timeout", 0.0) == self.ended(outcome, grade)
        assert (1, 1) == (server.count, outcome["progress"]["model_calls"])
        assert "trial_wall_s = 0.5 s: ended after 0." in outcome["message"]

    def test_without_code_nobody_is_asked(self, tmp_path: Path, server: ChatServer) -> None:
        """code_execution: off."""
        outcome, grade = LoopBench(tmp_path, server, code_execution="off").run()
        assert ("not_run", "code_not_allowed", 0) == (grade["status"], outcome["reason"], server.count)

    def test_references_and_nothing_are_graded_too(self, tmp_path: Path, server: ChatServer) -> None:
        """The oracle's turns go through the same loop; doing nothing fails the hidden tests; nobody is asked."""
        bench = LoopBench(tmp_path, server)
        bench.project.add_references("loops", {"mend": [action("read_file", path=STATS), MEND, TEST, FINAL]})
        outcome, grade = bench.run("oracle")
        assert ("final", "passed", None, 1.0) == self.ended(outcome, {**grade, "reason": grade["reason"] or None})
        assert "failed" == bench.run("nop")[1]["status"]
        bench.project.add_references("loops", {"mend": [MEND]})
        assert ("stopped", "failed", "invalid_format", 0.0) == self.ended(*bench.run("oracle"))
        assert 0 == server.count

    def test_a_killed_loop_goes_on_where_it_was(self, tmp_path: Path, server: ChatServer) -> None:
        """Killed while it waits for the third answer: two are not asked again, tests not run again, and it says the
        same to the server."""
        bench = LoopBench(tmp_path, server)
        bench.prepare()
        server.script([*said(TEST, MEND), {"text": FINAL, "delay_s": 60}])
        running = subprocess.Popen(bench.words(), start_new_session=True)
        until = time.monotonic() + 30
        while server.count < 3 and time.monotonic() < until:
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        asked = server.requests[2]["body"]
        server.script(said(FINAL))
        outcome, grade = bench.run()
        assert (4, asked) == (server.count, server.requests[3]["body"])
        assert ("final", "passed") == self.ended(outcome, grade)[:2]
        assert 3 == outcome["progress"]["model_calls"]


def test_a_table_that_cannot_be_carried_out_is_a_wrong_answer_not_a_crash(tmp_path: Path) -> None:
    """No command, one without pytest, no repository: each says so."""
    task = SuiteTask("t", "tested", {"prompt": "p", "scoring": SCORING})
    for command in (None, "pytest -q", ["ls"]):
        odd = replace(task, fields={"prompt": "p", "scoring": {**SCORING, "test_command": command}})
        assert "test_command is" in score_turns(odd, [FINAL], tmp_path, Tools()).detail
    found = score_turns(task, [FINAL], tmp_path / "none", Tools())
    assert (0.0, True) == (found.score, "is no folder" in found.detail)
    (tmp_path / "a.py").touch()
    odd_turns = [
        5,
        None,
        ["x"],
        {},
        {"content": 5, "tool_calls": [5, {}]},
        {"tool_calls": [{"name": 5}]},
        "\ud800\0",
        FINAL,
    ]
    assert "final" == score_turns(task, odd_turns, tmp_path, Tools()).about["progress"]["termination"]
