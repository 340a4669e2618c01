"""A real coding agent under the external-agent harness, as docs/external_agents.md says."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_support import Bench
from chat_server import ChatServer
from regrade import external_agent

DOC = (Path(__file__).parents[1] / "docs" / "external_agents.md").read_text()


def block(language: str, start: str) -> str:
    """The fenced block of the page that begins like this."""
    return next(text for text in re.findall(rf"```{language}\n(.*?)```", DOC, re.S) if text.startswith(start))


def agent_of_the_page(bench: Bench, **changes: str) -> external_agent.Agent:
    """The page's arm, with its script where we put it."""
    arm = yaml.safe_load(block("yaml", "arms:"))["arms"]["mini"]
    script = bench.write(bench.folder / "run-agent.py", block("python", "# run-agent.py"))
    words = [str(script) if word == "/home/me/run-agent.py" else word for word in arm["command"]]
    return external_agent.Agent([changes.get(word, word) for word in words], arm["env"])


def bash(command: str) -> dict[str, Any]:
    """An answer that calls mini-swe-agent's only tool."""
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    call = {"id": "c1", "type": "function", "function": function}
    return {"text": "I run this.", "tool_calls": [call], "finish_reason": "tool_calls"}


def test_the_script_of_the_page_starts_any_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt stands where the command wants it, and the command's exit code is the agent's."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    bench = Bench(tmp_path)
    agent = agent_of_the_page(bench, mini="echo")
    acted = bench.run(agent)
    assert "--yolo --exit-immediately --model=openai/my-model --task=x --output=/tmp/trajectory.json\n" == bench.log(
        "stdout.log"
    ), bench.log("stderr.log")
    assert [] == acted.warnings


@pytest.mark.skipif(find_spec("minisweagent") is None, reason="mini-swe-agent is not installed (it is in no lock)")
def test_mini_swe_agent_changes_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks the local server, runs the commands that it is told in the workspace, and ends by itself."""
    bench = Bench(tmp_path)
    end = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    with ChatServer([bash("echo b > a.txt"), bash(end)]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        acted = bench.run(agent_of_the_page(bench), timeout_s=120)
        assert 2 == server.count, bench.log("stdout.log") + bench.log("stderr.log")
        assert "my-model" == server.requests[0]["body"]["model"]
        assert "Please solve this issue: x" in json.dumps(server.requests[0]["body"]["messages"])
    assert ("", []) == (acted.reason, acted.warnings)
    assert "b\n" == (bench.workspace / "a.txt").read_text()
