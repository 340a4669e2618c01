"""The loop with one tool: what is run, what the model is told, how it ends, and how it goes on after a kill."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer
from regrade import files
from trial_support import DONE, WRITE_42, Bench, call, calling

CODE_ONLY = {"harness": "code-only"}
NO_TOOLS = {"when": '"tools":', "status": 400, "body": {"error": {"message": "m does not support tools"}}}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


def bench_of(folder: Path, server: ChatServer, answers: list[dict[str, Any]], **settings: Any) -> Bench:
    server.script(answers)
    return Bench(folder, server, CODE_ONLY | settings.pop("arm", {}), **settings)


def told(server: ChatServer, request: int = -1) -> list[str]:
    """What the model was told about its calls, as a request says it."""
    messages = server.requests[request]["body"]["messages"]
    return [message["content"] for message in messages[2:] if message["role"] != "assistant"]


def budgeted(bench: Bench, runs: int, seconds: int) -> None:
    bench.project.add_task("alpha", execution_budget={"max_code_runs": runs, "max_wall_seconds": seconds})


class TestCalls:
    """How code is asked for."""

    def test_native_calls_are_run_whatever_the_finish_reason_says(self, tmp_path: Path, server: ChatServer) -> None:
        """A call that comes with `stop` is run, the result goes back under its id, and the trial passes."""
        answers = [calling(f"{WRITE_42}; print('written')", finish_reason="stop"), DONE]
        bench = bench_of(tmp_path, server, answers)
        record = bench.run()
        assert ("passed", 2, 20) == (record["status"], record["turns"], record["tokens"]["prompt"])
        first, second = (request["body"] for request in server.requests)
        assert ["execute_code"] == [tool["function"]["name"] for tool in first["tools"]]
        assert "Output artifact: /workspace/output/answer.txt\n\nWrite the answer" in first["messages"][1]["content"]
        assert str(tmp_path) not in json.dumps(first)
        assert [answers[0]["tool_calls"][0]["id"], "exit code 0\nstdout:\nwritten"] == [
            second["messages"][3][name] for name in ("tool_call_id", "content")
        ]

    def test_several_calls_in_one_answer_run_one_after_the_other(self, tmp_path: Path, server: ChatServer) -> None:
        """Each has its own result, under its own id."""
        bench = bench_of(tmp_path, server, [calling("open('n', 'w').write('1')", "print(open('n').read())"), DONE])
        outcome = bench.act()
        assert ["exit code 0", "exit code 0\nstdout:\n1"] == told(server)
        ids = [message.get("tool_call_id") for message in server.requests[1]["body"]["messages"][3:]]
        assert (["c0", "c1"], 2) == (ids, outcome["code_runs"])

    @pytest.mark.parametrize(
        ("name", "arguments", "fault"),
        [
            ("execute_code", '{"language": "python", "code": "pri', "the arguments are no JSON object"),
            ("execute_code", "", "the arguments are no JSON object"),
            ("execute_code", "[" * 100_000, "the arguments are no JSON object"),
            ("execute_code", '"print(1)"', "the arguments are no JSON object"),
            ("execute_code", '{"language": "python"}', "expected {language: python or shell, code: a string}"),
            ("execute_code", '{"language": "cobol", "code": ""}', "expected {language: python or shell"),
            ("execute_code", '{"language": "python", "code": ["x"]}', "expected {language: python or shell"),
            ("open_browser", "{}", "unknown tool 'open_browser', expected execute_code"),
        ],
    )
    def test_a_call_that_cannot_be_read_is_told_so(
        self, tmp_path: Path, server: ChatServer, name: str, arguments: str, fault: str
    ) -> None:
        """Nothing is run, and what is said back to the server is sound JSON even if the model's was not."""
        odd = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
        bench = bench_of(tmp_path, server, [{"text": "", "tool_calls": [odd]}, calling(WRITE_42), DONE])
        assert "passed" == bench.run()["status"]
        assert told(server)[0].startswith(f"not run: {fault}")
        said = server.requests[1]["body"]["messages"][2]["tool_calls"][0]["function"]
        assert name == said["name"]
        assert isinstance(json.loads(said["arguments"]), dict)
        assert 1 == files.read_json(bench.paths().outcome)["code_runs"]

    def test_a_server_without_tools_is_asked_in_the_text_form(self, tmp_path: Path, server: ChatServer) -> None:
        """One refusal, then fenced blocks; an inner fence is part of the code; the record says so."""
        code = "mkdir -p output\ncat > R.md <<'E'\n```bash\nls\n```\nE\nprintf 42 > output/answer.txt; cat R.md"
        bench = bench_of(tmp_path, server, [NO_TOOLS, {"text": f"I run:\n```bash  \n{code}\n```"}, DONE])
        record = bench.run()
        assert ("passed", 2, 3) == (record["status"], record["turns"], server.count)
        assert ["the server takes no tools: code was asked for in the text form"] == record["warnings"]
        assert ["exit code 0\nstdout:\n```bash\nls\n```"] == told(server)
        last = server.requests[-1]["body"]
        assert "tools" not in last
        assert ["system", "user", "assistant", "user"] == [message["role"] for message in last["messages"]]

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("```python\nopen('a','w')\n```\nthen\n```shell\ntouch b\n```", "2 fenced blocks, expected exactly one"),
            ("```python\nopen('a','w')", "a block that is not closed"),
            ("```\ntouch a\n```", "a block of '', expected python or shell"),
            ("```ruby\nputs 1\n```", "a block of 'ruby', expected python or shell"),
        ],
    )
    def test_a_text_that_cannot_be_read_is_told_so(
        self, tmp_path: Path, server: ChatServer, text: str, fault: str
    ) -> None:
        """Several blocks, an open one, one in another language or in none: nothing is run or dropped silently."""
        bench = bench_of(tmp_path, server, [NO_TOOLS, {"text": text}, DONE])
        outcome = bench.act()
        assert [f"not run: {fault}"] == told(server)
        assert 0 == outcome["code_runs"]
        assert ["input.txt"] == [path.name for path in bench.workspace.iterdir()]

    def test_a_model_that_calls_natively_may_show_code_at_the_end(self, tmp_path: Path, server: ChatServer) -> None:
        """Its last words with a fenced block are words."""
        last = {"text": "I ran this:\n```python\nopen('again', 'w')\n```"}
        bench = bench_of(tmp_path, server, [calling(WRITE_42), last])
        assert ("passed", 2) == (bench.run()["status"], server.count)
        assert not (bench.workspace / "again").exists()

    def test_a_model_that_ignores_the_tool_is_read_in_the_text_form(self, tmp_path: Path, server: ChatServer) -> None:
        """A server that takes tools and a model that cannot call them."""
        bench = bench_of(tmp_path, server, [{"text": f"```python\n{WRITE_42}\n```"}, DONE])
        assert "passed" == bench.run()["status"]


class TestRunning:
    """What happens in the sandbox."""

    def test_files_stay_and_processes_and_variables_do_not(self, tmp_path: Path, server: ChatServer) -> None:
        """A background process is alive in its own call and gone in the next."""
        begin = (
            "import os, subprocess, time; x = 1\n"
            "subprocess.Popen(['sh', '-c', 'while :; do date +%N > alive; sleep 0.05; done'], start_new_session=True)\n"
            "time.sleep(0.3); print(os.path.exists('alive'))"
        )
        look = (
            "import os, time; a = open('alive').read(); time.sleep(0.3); print(a == open('alive').read())\n"
            "print(len([p for p in os.listdir('/proc') if p.isdigit()]) < 5, 'x' in globals())"
        )
        bench_of(tmp_path, server, [calling(begin), calling(look), DONE]).act()
        assert ["exit code 0\nstdout:\nTrue", "exit code 0\nstdout:\nTrue\nTrue False"] == told(server)

    def test_a_shell_call_may_read_its_input(self, tmp_path: Path, server: ChatServer) -> None:
        """A command that reads stdin finds it empty, and does not swallow the rest of the script."""
        script = "cat\nread line || echo nothing\n[[ a == a ]] && echo bash\ncd / ; exit 3\n"
        answer = {"text": "", "tool_calls": [call(script, "bash")]}
        bench_of(tmp_path, server, [answer, DONE]).act()
        assert ["exit code 3\nstdout:\nnothing\nbash"] == told(server)

    def test_the_agent_sees_neither_grader_nor_machine(
        self, tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The same look finds the grader and the key without a sandbox, and nothing in one."""
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-123")
        code = (
            "import os, pathlib\n"
            f"print(os.path.exists({str(tmp_path / 'problems')!r}), os.path.exists({str(Path(__file__))!r}))\n"
            "print(sum(b'sk-test' in pathlib.Path(f'/proc/{p}/environ').read_bytes() for p in os.listdir('/proc')"
            " if p.isdigit() and os.access(f'/proc/{p}/environ', os.R_OK)))\n"
            "print('\\n'.join(str(path) for path in pathlib.Path('/').rglob('hidden.py')))"
        )
        bench = bench_of(tmp_path, server, [calling(code), DONE])
        bench.act()
        assert ["exit code 0\nstdout:\nFalse False\n0"] == told(server)
        bench.project.config |= {"sandbox": "none", "cache": "off"}
        bench.project.write_config()
        server.script([calling("\n".join(code.splitlines()[:2])), DONE])
        bench.act()
        assert ["exit code 0\nstdout:\nTrue True"] == told(server)

    def test_a_flood_of_output_is_shown_by_its_ends(self, tmp_path: Path, server: ChatServer) -> None:
        """Head, tail, and how much is missing, also when the time limit ended it; memory stays small."""
        flood = {"text": "", "tool_calls": [call("echo first; yes | head -c 30000000; echo; echo last", "shell")]}
        endless = {"text": "", "tool_calls": [call("echo first; yes", "shell")]}
        bench = bench_of(tmp_path, server, [flood, endless, DONE], limits={"tool_wall_s": 2})
        bench.act()
        ended, stopped = told(server)
        assert ended.startswith("exit code 0\nstdout:\nfirst\ny\n")
        assert ended.endswith("\nlast")
        assert "\n... 29991820 bytes omitted ...\n" in ended
        assert stopped.startswith("stopped by the wall limit of 2 s after ")
        assert "bytes omitted" in stopped
        assert max(len(ended), len(stopped)) < 9000
        assert sum(path.stat().st_size for path in bench.results.rglob("*") if path.is_file()) < 500_000

    def test_output_that_is_no_text_is_escaped(self, tmp_path: Path, server: ChatServer) -> None:
        """Bytes that are no UTF-8, NUL and terminal signs are told as escapes, and change no exit code."""
        printf = {"text": "", "tool_calls": [call(r"printf 'caf\351 \000 \033[31m\ttab é\r\n'; echo \\x >&2", "shell")]}
        bench = bench_of(tmp_path, server, [printf, DONE])
        assert "ok" == bench.act()["status"]
        assert ["exit code 0\nstdout:\ncaf\\xe9 \\x00 \\x1b[31m\ttab é\nstderr:\n\\x"] == told(server)

    @pytest.mark.parametrize(
        ("code", "limits", "expected"),
        [
            ("import time; time.sleep(60)", {"tool_wall_s": 1}, r"stopped by the wall limit of 1 s after \d+\.\d s"),
            ("while True: pass", {"tool_cpu_s": 1}, r"stopped by the cpu limit of 1 s after \d+\.\d s"),
            (
                "x = []\nwhile True: x.append(bytes(10_000_000))",
                {"tool_memory_mb": 200},
                r"stopped by the memory limit of 200 MB|MemoryError",
            ),
            (
                "open('f', 'wb').write(bytes(3_000_000))",
                {"workspace_mb": 1},
                r"stopped by the disk limit of 1 MB|File too large",
            ),
        ],
        ids=["wall", "cpu", "memory", "disk"],
    )
    def test_a_call_s_limits_are_named_with_what_was_measured(
        self, tmp_path: Path, server: ChatServer, code: str, limits: dict[str, float], expected: str
    ) -> None:
        """Which one, how much it was, when it fired; the loop goes on, and the CPU of all calls is counted."""
        bench = bench_of(tmp_path, server, [calling(code), calling(WRITE_42), DONE], limits=limits)
        assert "passed" == bench.run()["status"]
        assert re.search(expected, told(server)[0])
        outcome = files.read_json(bench.paths().outcome)
        assert ("bubblewrap", 2) == (outcome["sandbox"]["mode"], outcome["code_runs"])
        assert outcome["sandbox"]["cpu_s"] > ("tool_cpu_s" in limits)
        assert {"wall", "cpu", "memory", "processes", "disk", "no network"} <= set(outcome["sandbox"]["bounds"])

    def test_without_a_sandbox_code_may_even_remove_its_workspace(self, tmp_path: Path, server: ChatServer) -> None:
        """sandbox: none runs code on the machine and says so; a workspace that is gone is an error, not a crash."""
        bench = bench_of(tmp_path, server, [calling(WRITE_42), DONE], sandbox="none")
        assert ("passed", "none") == (bench.run()["status"], bench.record()["sandbox"]["mode"])
        (tmp_path / "other").mkdir()
        other = str(tmp_path / "other")
        replace = f"import os; p = os.getcwd(); os.chdir('/'); os.rename(p, p + '.away'); os.symlink({other!r}, p)"
        server.script([calling(replace), DONE])
        bench.project.config["cache"] = "off"
        bench.project.write_config()
        record = bench.run()
        assert ("error", "sandbox_error") == (record["status"], record["reason"])
        assert "the workspace is gone" in record["message"]


class TestEnding:
    """Why a loop ends, and what becomes of what it left."""

    def test_the_step_limit(self, tmp_path: Path, server: ChatServer) -> None:
        """It is named, explains a failure, and spoils no pass."""
        bench = bench_of(tmp_path, server, [calling("print(1)")], arm={"max_steps": 3})
        record = bench.run()
        assert ("failed", "agent_timeout", 3, 3) == (
            record["status"], record["reason"], record["turns"], server.count
        )  # fmt: skip
        assert "max_steps = 3: the model still wanted to go on" == record["message"]
        server.script([calling(WRITE_42)])
        bench.project.config["arms"]["asked"]["max_steps"] = 1
        bench.project.config["cache"] = "off"
        bench.project.write_config()
        record = bench.run()
        assert ("passed", None) == (record["status"], record["reason"])
        assert "agent_timeout: max_steps = 1" in record["message"]

    def test_work_that_was_done_before_the_time_was_over_counts(self, tmp_path: Path, server: ChatServer) -> None:
        """The artifact of an agent that then idles past the trial's limit is graded: both facts are recorded."""
        bench = bench_of(tmp_path, server, [calling(f"{WRITE_42}; import time; time.sleep(60)")])
        bench.project.config["limits"] = {"trial_wall_s": 2}
        bench.project.write_config()
        record = bench.run()
        assert ("passed", 1) == (record["status"], server.count)
        assert "agent_timeout: trial_wall_s = 2 s: ended after " in record["message"]
        assert 2 <= record["timing"]["wall_s"] < 10
        wrong = WRITE_42.replace("42", "41")
        server.script([calling(f"{wrong}; import time; time.sleep(60)")])
        bench.project.config["cache"] = "off"
        bench.project.write_config()
        record = bench.run()
        assert ("failed", "agent_timeout", "wrong number") == tuple(
            record[name] for name in ("status", "reason", "detail")
        )

    def test_calls_of_an_answer_that_came_too_late_are_not_run(self, tmp_path: Path, server: ChatServer) -> None:
        """The model's time counts as the code's does."""
        bench = bench_of(tmp_path, server, [calling(WRITE_42, delay_s=0.6)], limits={"trial_wall_s": 0.5})
        record = bench.run()
        assert ("agent_timeout", 0) == (record["reason"], files.read_json(bench.paths().outcome)["code_runs"])

    def test_last_words_that_came_too_late_are_a_timeout_too(self, tmp_path: Path, server: ChatServer) -> None:
        """A model that is done, but only after the limit."""
        bench = bench_of(tmp_path, server, [DONE | {"delay_s": 0.6}], limits={"trial_wall_s": 0.5})
        assert "agent_timeout" == bench.run()["reason"]

    def test_waiting_for_the_provider_is_not_working_time(self, tmp_path: Path, server: ChatServer) -> None:
        """A rate limit of 3 s within a trial of at most 2.5 s: it goes on and passes."""
        wait = {"status": 429, "headers": {"Retry-After": "3"}, "body": {}}
        answers = [wait, calling(WRITE_42), DONE]
        bench = bench_of(tmp_path, server, answers, limits={"trial_wall_s": 2.5}, model={"max_retries": 1})
        record = bench.run()
        assert ("passed", None) == (record["status"], record["message"])
        assert record["timing"]["wall_s"] < 2.5

    def test_the_budget_of_code_runs(self, tmp_path: Path, server: ChatServer) -> None:
        """Recorded and not enforced by default; enforced it ends the trial, whatever was left; 0 is unlimited."""
        answers = [calling(WRITE_42), calling("print(1)"), DONE]
        bench = bench_of(tmp_path, server, answers)
        budgeted(bench, 1, 0)
        record = bench.run()
        assert ("passed", False, 1) == (
            record["status"], record["limits"]["enforced"], record["limits"]["max_code_runs"]
        )  # fmt: skip
        bench.project.config["enforce_budgets"] = True
        bench.project.write_config()
        record = bench.run()
        assert ("failed", "budget_exceeded", True) == (
            record["status"], record["reason"], record["limits"]["enforced"]
        )  # fmt: skip
        assert "max_code_runs = 1: the model wanted to run code once more" == record["message"]
        assert 1 == files.read_json(bench.paths().outcome)["code_runs"]
        budgeted(bench, 0, 0)
        assert "passed" == bench.run()["status"]
        assert 3 == server.count

    def test_the_budget_of_time(self, tmp_path: Path, server: ChatServer) -> None:
        """Recorded by default; enforced it stops the code that is running and ends the trial."""
        bench = bench_of(tmp_path, server, [calling(f"{WRITE_42}; import time; time.sleep(2.1)"), DONE])
        budgeted(bench, 0, 2)
        assert "passed" == bench.run()["status"]
        bench.project.config |= {"enforce_budgets": True, "cache": "off"}
        bench.project.write_config()
        server.script([calling(f"{WRITE_42}; import time; time.sleep(60)"), DONE])
        record = bench.run()
        assert ("failed", "budget_exceeded") == (record["status"], record["reason"])
        assert "max_wall_seconds = 2 s: ended after " in record["message"]
        assert "graded passed, score 1" in record["detail"]

    @pytest.mark.parametrize(
        ("last", "reason"),
        [
            ({"text": "", "reasoning": "done"}, "wrong_answer"),
            ({"text": "I must", "finish_reason": "length"}, "truncated"),
            ({"text": "no", "finish_reason": "content_filter"}, "refusal"),
            (
                {"status": 400, "body": {"error": {"code": "context_length_exceeded", "message": "too long"}}},
                "truncated",
            ),
        ],
    )
    def test_how_the_last_answer_explains_a_failure(
        self, tmp_path: Path, server: ChatServer, last: dict[str, Any], reason: str
    ) -> None:
        """An agent that falls silent after its work gave a wrong answer; one out of context or tokens was cut."""
        record = bench_of(tmp_path, server, [calling(WRITE_42.replace("42", "41")), last]).run()
        assert ("failed", reason) == (record["status"], record["reason"])

    def test_an_agent_that_says_nothing_at_all(self, tmp_path: Path, server: ChatServer) -> None:
        """No text and no call is no response."""
        assert "no_response" == bench_of(tmp_path, server, [{"text": ""}]).run()["reason"]

    def test_what_was_paid_before_the_server_broke_is_in_the_record(self, tmp_path: Path, server: ChatServer) -> None:
        """The trial is an error, its first answer counts; the next call replays it and goes on."""
        bench = bench_of(tmp_path, server, [calling(WRITE_42), {"status": 500, "body": "down"}])
        record = bench.run()
        assert ("error", "provider_error", 1, 10) == (
            record["status"], record["reason"], record["turns"], record["tokens"]["prompt"]
        )  # fmt: skip
        assert not list(bench.workspace.parent.iterdir())
        server.script([DONE])
        record = bench.run()
        assert ("passed", 2, 3) == (record["status"], record["turns"], server.count)

    def test_a_trial_s_files_tell_its_story(self, tmp_path: Path, server: ChatServer) -> None:
        """calls.jsonl has a request and its response a line, transcript.jsonl the conversation."""
        bench = bench_of(tmp_path, server, [calling(WRITE_42), DONE])
        bench.act()
        calls = list(files.read_jsonl(bench.paths().raw("calls.jsonl", True)))
        assert [request["body"] for request in server.requests] == [row["request"] for row in calls]
        assert ["execute_code", "Done."] == [
            calls[0]["response"]["tool_calls"][0]["name"],
            calls[1]["response"]["text"],
        ]
        messages = list(files.read_jsonl(bench.paths().log("transcript.jsonl")))
        assert [*server.requests[-1]["body"]["messages"], {"role": "assistant", "content": "Done."}] == messages


CLOCK = f"import time; {WRITE_42}; print(time.time_ns())"


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.02)


def kill_when(bench: Bench, condition: Callable[[], bool]) -> None:
    """Start the trial in a process of its own, and kill -9 its group when something holds."""
    process = subprocess.Popen(bench.words(), start_new_session=True)
    try:
        wait_for(condition)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def messages_of(server: ChatServer, request: int) -> list[Any]:
    return list(server.requests[request]["body"]["messages"])


class TestKilled:
    """A loop that is killed goes on where it was."""

    def test_in_the_middle_of_an_answer(self, tmp_path: Path, server: ChatServer) -> None:
        """Two answers are replayed, the one in flight is asked again with the same messages, time stamps included."""
        bench = bench_of(tmp_path, server, [calling(CLOCK), calling(CLOCK, "1/0"), DONE | {"delay_s": 20}])
        bench.prepare()
        kill_when(bench, lambda: server.count == 3)
        assert not bench.paths().outcome.exists()
        server.script([DONE])
        outcome = bench.act()
        assert (4, 3, 3) == (server.count, outcome["turns"], outcome["code_runs"])
        assert messages_of(server, 2) == messages_of(server, 3)
        stamps = [text for text in told(server, 3) if "stdout" in text]
        assert 2 == len(set(stamps))
        assert "passed" == bench.record()["status"]
        assert b"42" == (bench.workspace / "output/answer.txt").read_bytes()

    def test_in_the_middle_of_running_code(self, tmp_path: Path, server: ChatServer) -> None:
        """The answer is not paid again; its code runs from the start, on a workspace without half its traces."""
        code = f"import os, time; print(os.path.exists('trace')); open('trace', 'w'); time.sleep({{}}); {WRITE_42}"
        bench = bench_of(tmp_path, server, [calling(code.format(2)), DONE])
        bench.prepare()
        kill_when(bench, lambda: any(bench.workspace.parent.rglob("trace")))
        assert 1 == server.count
        record = bench.run()
        assert ("passed", 2) == (record["status"], server.count)
        assert ["exit code 0\nstdout:\nFalse"] == told(server)

    def test_ctrl_c_ends_a_trial_and_its_code_at_once(self, tmp_path: Path, server: ChatServer) -> None:
        """While code runs and while an answer is awaited; no traceback, and nothing lives on."""
        tick = "import time\nwhile True: open('trace', 'w').write(str(time.time_ns())); time.sleep(0.02)"
        bench = bench_of(tmp_path, server, [{"text": "", "tool_calls": [call(tick)]}])
        bench.prepare()
        traces = bench.workspace.parent / ".rep-001.working" / "trace"
        self.interrupt(bench, traces.exists)
        before = traces.read_bytes()
        time.sleep(0.2)
        assert before == traces.read_bytes()
        server.script([DONE | {"delay_s": 20}])
        bench.project.config["cache"] = "off"
        bench.project.write_config()
        self.interrupt(bench, lambda: server.count == 2)

    def interrupt(self, bench: Bench, condition: Callable[[], bool]) -> None:
        # Whoever runs the tests in the background has the signal ignored, and so would have their children.
        process = subprocess.Popen(
            bench.words(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        wait_for(condition)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=10)
        assert (130, "") == (process.returncode, output)

    def test_in_the_text_form(self, tmp_path: Path, server: ChatServer) -> None:
        """What the server refuses is remembered, so the replay does not even ask for it."""
        bench = bench_of(tmp_path, server, [NO_TOOLS, {"text": f"```python\n{CLOCK}\n```"}, DONE | {"delay_s": 20}])
        bench.prepare()
        kill_when(bench, lambda: server.count == 3)
        server.script([NO_TOOLS, DONE])
        assert "passed" == bench.run()["status"]
        assert 4 == server.count
        assert messages_of(server, 2) == messages_of(server, 3)

    def test_a_replay_takes_the_time_that_the_original_took(self, tmp_path: Path, server: ChatServer) -> None:
        """Served whole from the store, also where asking is forbidden: same timings, same end, marked as cached."""
        bench = bench_of(tmp_path, server, [calling(CLOCK, delay_s=0.3), calling("import time; time.sleep(0.3)"), DONE])
        first = bench.act()
        bench.project.config["cache"] = "only"
        bench.project.write_config()
        second = bench.act()
        assert 3 == server.count
        assert first["timing"] == second["timing"]
        assert 0.6 < first["timing"]["wall_s"] < 10
        assert (False, True) == (first["cached"], second["cached"])
        for name in ("digests", "tokens", "turns", "code_runs", "reason"):
            assert first[name] == second[name]

    def test_other_inputs_are_another_result(self, tmp_path: Path, server: ChatServer) -> None:
        """The first question is the same and free; what its code printed is not, so the rest is asked anew."""
        bench = bench_of(tmp_path, server, [calling("print(open('input.txt').read())"), DONE])
        bench.act()
        bench.project.write("problems/artifact/algorithmic/alpha/workspace/input.txt", "other\n")
        bench.prepare()
        bench.act()
        assert 3 == server.count
        assert ["exit code 0\nstdout:\nother"] == told(server)
