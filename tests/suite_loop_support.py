"""An agent loop's stages, called one by one as the rules call them, with a scripted server to ask."""

import json
import sys
from pathlib import Path
from typing import Any

from chat_server import ChatServer
from project import Project
from regrade import config, files, score_loop, trial
from regrade.inputs import repository
from regrade.layout import TrialPaths
from regrade.plan import Plan, Trial

STATS = "calc/stats.py"
BROKEN = "def mean(values):\n    return sum(values) // len(values)\n"
MENDED = "def mean(values):\n    return sum(values) / len(values)\n"
FIXTURE = {
    "calc/__init__.py": "",
    STATS: BROKEN,
    "tests/test_stats.py": "from calc.stats import mean\n\n\ndef test_whole():\n    assert mean([2, 4]) == 3\n",
}
HIDDEN = "from calc.stats import mean\n\n\ndef test_secret_half():\n    assert mean([1, 2]) == 1.5\n"
SCORING = {
    "type": "agent_loop",
    "repo_fixture": "fixtures/calc",
    "test_command": ["{python}", "-m", "pytest", "-q"],
    "hidden_tests": [{"path": "tests/test_hidden.py", "content": HIDDEN}],
}
QUICK = {"max_retries": 0, "connect_timeout_s": 2, "read_timeout_s": 5}


def action(tool: str, **args: Any) -> str:
    """A turn that is one call in JSON."""
    return json.dumps({"tool": tool, "args": args})


def said(*turns: str) -> list[dict[str, Any]]:
    """Answers of a server, each a text."""
    return [{"text": turn} for turn in turns]


def native(tool: str, identity: str = "c1", **args: Any) -> dict[str, Any]:
    """A native call as chat completions send it."""
    return {"id": identity, "type": "function", "function": {"name": tool, "arguments": json.dumps(args)}}


MEND = action("write_file", path=STATS, content=MENDED)
FINAL = action("final", summary="mended")
TEST = action("run_tests")


class LoopBench:
    """One arm over one agent_loop task, which is solved by MEND."""

    def __init__(self, folder: Path, server: ChatServer, **settings: Any) -> None:
        entry = {"adapter": "openai-chat", "model": "m", "base_url": server.base_url, **QUICK}
        entry |= settings.pop("model", {})
        arm = {"harness": "direct", "model": "asked", **settings.pop("arm", {})}
        scoring = {**SCORING, **settings.pop("scoring", {})}
        task = {"id": "mend", "prompt": "Mend the mean.", "system": "Be brief.", "scoring": scoring}
        task |= settings.pop("task", {})
        places = {"suites": "problems/suites", "artifact": "problems/artifact", "sets": "sets", "results": "results"}
        dirs = {name: str(folder / place) for name, place in places.items()}
        arms = {"asked": arm, "oracle": {"harness": "oracle"}, "nop": {"harness": "nop"}}
        self.project = Project(folder, arms, {"asked": entry}, dirs=dirs, **settings)
        self.project.config["models"] = str(folder / "config/models.yaml")
        self.project.write_config()
        self.folder = folder
        for name, content in FIXTURE.items():
            self.project.write(f"problems/suites/fixtures/calc/{name}", content)
        self.project.add_suite("loops", task)

    def plan(self) -> Plan:
        return Plan(config.load_file(self.folder / "config/config.yaml"))

    def trial(self, arm: str = "asked") -> Trial:
        return Trial(self.plan().task("suite", "loops", "mend"), arm, 1)

    def paths(self, arm: str = "asked") -> TrialPaths:
        return self.plan().paths(self.trial(arm))

    def words(self, arm: str = "asked") -> list[str]:
        """The trial stage as a command line."""
        plan = self.plan()
        spec = json.dumps(plan.suite.loop_spec(self.trial(arm)))
        return [sys.executable, "-m", "regrade.trial", spec, json.dumps(plan.config.to_value())]

    def prepare(self) -> None:
        """Make the pristine copy of the repository."""
        plan, planned = self.plan(), self.trial()
        repository.main(json.dumps(plan.suite.fixture_spec(planned.task)))

    def act(self, arm: str = "asked") -> dict[str, Any]:
        """Run the trial stage in this process; its outcome."""
        plan, planned = self.plan(), self.trial(arm)
        if not plan.task_paths(planned.task).inputs.exists():
            self.prepare()
        trial.main(json.dumps(plan.suite.loop_spec(planned)), json.dumps(plan.config.to_value()))
        return dict(files.read_json(plan.paths(planned).outcome))

    def grade(self, arm: str = "asked") -> dict[str, Any]:
        """Run the scoring stage; the grade."""
        plan, planned = self.plan(), self.trial(arm)
        score_loop.main(json.dumps(plan.suite.score_loop_spec(planned)))
        return dict(files.read_json(plan.paths(planned).grade))

    def run(self, arm: str = "asked") -> tuple[dict[str, Any], dict[str, Any]]:
        """Act and grade; the outcome and the grade."""
        return self.act(arm), self.grade(arm)
