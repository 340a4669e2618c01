"""Artifact tasks in the loop with tools for files and for code: what is carried out, what bounds it, how it ends."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer
from regrade import files
from suite_loop_support import action, native, said
from trial_support import Bench

TOOL_RICH = {"harness": "tool-rich"}
WRITE = action("write_file", path="output/answer.txt", content="42")
FINAL = action("final", summary="written")


def code(text: str, **more: Any) -> str:
    return action("execute_code", code=text, **more)


SLEEP = code("sleep 1.1", language="sh")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


def bench_of(folder: Path, server: ChatServer, answers: list[dict[str, Any]], **settings: Any) -> Bench:
    server.script(answers)
    return Bench(folder, server, TOOL_RICH | settings.pop("arm", {}), **settings)


def told(server: ChatServer) -> list[str]:
    """What the model was told of its actions, as the last request says it."""
    messages = server.requests[-1]["body"]["messages"]
    return [message["content"] for message in messages[2:] if message["role"] != "assistant"]


def test_files_and_code_share_one_workspace(tmp_path: Path, server: ChatServer) -> None:
    """What is written is there for code, what code leaves can be read; final ends it and the artifact is graded."""
    program = "open('output/answer.txt', 'w').write(str(int(open('parts/n.txt').read()) * 2)); print('done')"
    turns = [
        action("list_files"), action("read_file", path="input.txt"),
        action("write_file", path="/workspace/parts/n.txt", content="21"),
        code("mkdir -p output", language="shell"), code(program), action("read_file", path="output/answer.txt"), FINAL,
    ]  # fmt: skip
    bench = bench_of(tmp_path, server, said(*turns))
    record = bench.run()
    assert ("passed", 7) == (record["status"], record["turns"])
    wrote = "wrote 2 characters to /workspace/parts/n.txt"
    ran = ["exit code 0", "exit code 0\nstdout:\ndone"]
    assert ["input.txt", "input of alpha\n", wrote, *ran, "42"] == told(server)
    outcome = files.read_json(bench.paths().outcome)
    assert (2, "bubblewrap", "") == (outcome["code_runs"], outcome["sandbox"]["mode"], outcome["reason"])
    first = server.requests[0]["body"]
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert ["list_files", "read_file", "write_file", "execute_code", "final"] == names
    assert first["messages"][1]["content"].startswith("Input directory: /workspace\nOutput artifact: /workspace/output")
    assert str(tmp_path) not in json.dumps([request["body"] for request in server.requests])


def test_native_calls_and_other_forms_are_understood(tmp_path: Path, server: ChatServer) -> None:
    """A native call, a function with code in triple quotes, and a plain word to end that is told to call final."""
    function = 'execute_code("""\nwith open("note", "w") as f:\n    f.write("a\\n")\n""")'
    fenced = 'execute_code(language="shell", code="""cat > R.md <<\'E\'\n```bash\nls\n```\nE\ncat R.md""")'
    server_turns = [
        {"text": "I write.", "tool_calls": [native("write_file", path="output/answer.txt", content="42")]},
        *said(function, fenced, "Done.", FINAL),
    ]
    bench = bench_of(tmp_path, server, server_turns)
    assert "passed" == bench.run()["status"]
    wrote, ran, listed, done = told(server)
    assert ("exit code 0", "exit code 0\nstdout:\n```bash\nls\n```") == (ran, listed)
    assert wrote.startswith("wrote 2 characters")
    assert done.startswith("not understood: there is no call of a tool in it")
    assert "a\n" == (bench.workspace / "note").read_text()


def test_a_server_without_tools_is_asked_in_text(tmp_path: Path, server: ChatServer) -> None:
    """One refusal, noted in the record."""
    refusal = {"status": 400, "body": {"error": {"message": "m does not support tools"}}}
    record = bench_of(tmp_path, server, [{"when": '"tools":', **refusal}, *said(WRITE, FINAL)]).run()
    assert ("passed", 3) == (record["status"], server.count)
    assert ["the server takes no tools: actions were asked for in the text form"] == record["warnings"]


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        ({"code": ["x"]}, "failed: expected {language: python or shell, code: a string}"),
        ({"code": "x", "language": "cobol"}, "failed: expected {language: python or shell, code: a string}"),
        ({}, "failed: expected {language: python or shell, code: a string}"),
    ],
)
def test_code_that_cannot_be_run_is_told_so(
    tmp_path: Path, server: ChatServer, args: dict[str, Any], fault: str
) -> None:
    """It is no code run."""
    outcome = bench_of(tmp_path, server, said(action("execute_code", **args), FINAL)).act()
    assert ([fault], 0) == (told(server), outcome["code_runs"])


def test_links_that_code_leaves_lead_nowhere(tmp_path: Path, server: ChatServer) -> None:
    """Neither reading nor writing follows one out of the workspace, and a pipe holds nobody up."""
    (tmp_path / "secret").write_text("secret")
    make = f"ln -s {tmp_path}/secret out; ln -s / root; mkfifo pipe"
    ways = ("out", "root/etc/passwd", "pipe", f"root{tmp_path}/secret")
    turns = [
        code(make, language="shell"), *(action("read_file", path=way) for way in ways),
        *(action("write_file", path=way, content="x") for way in ways[:2]), FINAL,
    ]  # fmt: skip
    bench_of(tmp_path, server, said(*turns)).act()
    assert all(text.startswith("failed: ") for text in told(server)[1:])
    assert "secret" == (tmp_path / "secret").read_text()


@pytest.mark.parametrize(
    ("budget", "turns", "message", "count"),
    [
        ({"max_code_runs": 1, "max_wall_seconds": 0}, [code("1"), WRITE, code("2"), FINAL], "max_code_runs = 1", 3),
        ({"max_code_runs": 0, "max_wall_seconds": 1}, [SLEEP, FINAL], "max_wall_seconds = 1", 1),
    ],
)  # fmt: skip
def test_enforced_budgets_end_a_trial(
    tmp_path: Path, server: ChatServer, budget: dict[str, int], turns: list[str], message: str, count: int
) -> None:
    """Code runs and time worked; where nothing is enforced they bind nobody."""
    bench = bench_of(tmp_path, server, said(*turns), enforce_budgets=True)
    bench.project.add_task("alpha", execution_budget=budget)
    outcome = bench.act()
    assert ("budget_exceeded", count) == (outcome["reason"], server.count)
    assert outcome["message"].startswith(message)
    server.script(said(*turns))
    bench.project.config |= {"enforce_budgets": False, "cache": "off"}
    bench.project.write_config()
    assert "" == bench.act()["reason"]


@pytest.mark.parametrize(
    ("turns", "reason"),
    [([WRITE, code("1")], "agent_timeout"), (["Hello."], "invalid_format"), ([""], "no_response")],
)
def test_steps_that_are_used_up_end_a_trial(tmp_path: Path, server: ChatServer, turns: list[str], reason: str) -> None:
    """What was left is graded all the same."""
    bench = bench_of(tmp_path, server, said(*turns), arm={"max_steps": 2})
    assert (reason, 2) == (bench.act()["reason"], server.count)
    assert ("passed" if turns[0] == WRITE else "failed") == bench.record()["status"]


def test_a_killed_trial_goes_on_where_it_was(tmp_path: Path, server: ChatServer) -> None:
    """Two answers come from the store, code is run again on a fresh workspace, and the server is told the same."""
    bench = bench_of(tmp_path, server, said(code("import random; print(random.random())"), WRITE))
    bench.prepare()
    server.script([*said(code("import random; print(random.random())"), WRITE), {"text": FINAL, "delay_s": 60}])
    running = subprocess.Popen(bench.words(), start_new_session=True)
    until = time.monotonic() + 30
    while server.count < 3 and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    server.script(said(FINAL))
    record = bench.run()
    assert ("passed", 4, 3) == (record["status"], server.count, record["turns"])
    assert server.requests[2]["body"] == server.requests[3]["body"]
