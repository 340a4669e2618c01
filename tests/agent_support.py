"""Trials of external agents in a small results folder, and the stages called as the rules call them."""

import json
from pathlib import Path
from typing import Any

from regrade import digests, external_agent, files, session
from regrade.config import LIMITS, Config
from regrade.harnesses import Acted
from regrade.inputs import repository as repository_stage
from regrade.layout import RunPaths, TaskPaths, TrialPaths

VECTORS = Path(__file__).parent / "vectors" / "benchpack"
ABOUT: dict[str, Any] = {
    "pack": {"id": "p", "version": "1", "description": ""},
    "case": {
        "id": "c",
        "kind": "repo-task",
        "prompt": "x",
        "fixture_refs": ["r"],
        "harness": {"id": "external-agent", "timeout_s": 2.0},
    },
    "source": {"source_fixture_id": "r", "source_path": "r"},
    "adapter": {
        "id": "openai-chat",
        "model": "m",
        "endpoint": "http://h:1/v1",
        "defaults": {"_openai_stream_usage": "include"},
    },
    "fixtures": [{"id": "r", "kind": "repo", "path": "r", "description": ""}],
}
ROW: dict[str, Any] = {
    "repetition": 1, "ok": True, "text": "", "adapter": "openai-chat", "endpoint": "http://h:1/v1/chat/completions",
    "model": "m", "timing": {"wall_s": 1.5, "ttft_s": 0.5, "prefill_tps": 20.0, "decode_tps": 2.0, "total_tps": 1.3333},
    "tokens": {"prompt": 10, "output": 2, "cached_prompt": None}, "finish_reason": "stop", "reason": "",
    "message": "", "warnings": [], "request": "0" * 64, "digest": "1" * 64,
}  # fmt: skip


def vectors(area: str) -> list[dict[str, Any]]:
    """The vectors of an area."""
    return [json.loads(line) for line in (VECTORS / f"{area}.jsonl").read_text().splitlines()]


class Bench:
    """The pack `p` with the case `c`, whose repository `r` holds a.txt."""

    def __init__(self, folder: Path, sandbox: str = "bubblewrap", **limits: float) -> None:
        self.folder = folder
        self.results = folder / "results"
        self.pack = folder / "benchpacks" / "p"
        dirs = {"results": str(self.results), "benchpacks": str(self.pack.parent)}
        self.config = Config({}, dirs=dirs, sandbox=sandbox, limits={**LIMITS, **limits})
        self.write(self.pack / "benchpack.toml", "[pack]\n")
        self.write(self.pack / "verify/c.py", "SECRET = 42\n")
        self.shared = TaskPaths(self.results, "benchpack", "p", "c")
        self.paths = self.run_paths("m")
        self.workspace = self.paths.workspace.with_name(".rep-001.working")

    def run_paths(self, arm: str) -> TrialPaths:
        return RunPaths(self.results, arm, "benchpack", "p").trial("c", 1)

    def write(self, path: Path, content: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def agent(self, code: str, **given: Any) -> external_agent.Agent:
        """An agent in Python; its script lies outside of all that is hidden from it."""
        return external_agent.Agent(["python3", str(self.write(self.folder / "agent.py", code))], **given)

    def run(self, agent: external_agent.Agent, timeout_s: float | None = 20) -> Acted:
        """Let an agent act on a workspace that holds a.txt."""
        self.write(self.workspace / "a.txt", "a\n")
        acted = Acted()
        assignment = external_agent.Assignment(agent, self.paths, self.workspace, ABOUT, timeout_s)
        external_agent.run(assignment, self.config, acted)
        return acted

    def log(self, name: str) -> str:
        return self.paths.log(name).read_bytes().decode()

    def prepare(self, **repository: str) -> None:
        """Write the pack's repository and make its pristine copy; `__` in a name is a slash."""
        for name, content in {"a.txt": "a\n", **repository}.items():
            self.write(self.pack / "r" / name.replace("__", "/"), content)
        source = self.pack / "r"
        digest = digests.of_folder(source)
        spec = {"id": "p/c", "source": str(source), "leave_out": [], "digest": digest}
        spec["output"] = str(self.shared.inputs)
        repository_stage.main(json.dumps(spec))

    def spec(self, harness: dict[str, Any] | None = None, arm: str = "direct", **agent: Any) -> dict[str, Any]:
        """A specification of the session stage, as the plan makes it."""
        return {
            "task": {"id": "p/c", "digest": "2" * 64},
            "pack": ABOUT["pack"],
            "case": {**ABOUT["case"], "harness": harness},
            "fixtures": ABOUT["fixtures"],
            "source": "r",
            "arm": {"name": "m", "harness": arm},
            "adapter": ABOUT["adapter"],
            "measured": str(self.paths.outcome.with_name("measured.jsonl")),
            "repetition": 1,
            "digest": "3" * 64,
            "attempt": 0,
            **({"agent": agent} if agent else {}),
        }

    def session(self, spec: dict[str, Any], **row: Any) -> dict[str, Any]:
        """Run the stage on a measured row; the outcome."""
        Path(spec["measured"]).parent.mkdir(parents=True, exist_ok=True)
        Path(spec["measured"]).write_text(json.dumps({**ROW, **row}) + "\n")
        session.main(json.dumps(spec), json.dumps(self.config.to_value()))
        return dict(files.read_json(self.paths.outcome))
