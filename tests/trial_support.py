"""The stages of a tiny project, called one by one as the rules call them, with a scripted server to ask."""

import json
import sys
from pathlib import Path
from typing import Any

from chat_server import ChatServer
from project import Project
from regrade import config, files, grade, records, trial
from regrade.inputs import stage as inputs
from regrade.layout import TrialPaths
from regrade.plan import Plan, Trial

QUICK = {"max_retries": 0, "connect_timeout_s": 2, "read_timeout_s": 5, "retry_wait_s": 0.01}


class Bench:
    """One arm, `asked`, over the task algorithmic/alpha, which wants 42 in output/answer.txt."""

    def __init__(self, folder: Path, server: ChatServer | str, arm: dict[str, Any], **settings: Any) -> None:
        address = server if isinstance(server, str) else server.base_url
        model = {"adapter": "openai-chat", "model": "m", "base_url": address, **QUICK, **settings.pop("model", {})}
        places = {"artifact": "problems/artifact", "sets": "sets", "results": "results"}
        dirs = {name: str(folder / place) for name, place in places.items()}
        self.folder = folder
        self.results = folder / "results"
        self.project = Project(folder, {"asked": {"model": "asked", **arm}}, {"asked": model}, dirs=dirs, **settings)
        self.project.config["models"] = str(folder / "config/models.yaml")
        self.project.write_config()
        self.task = self.project.add_task("alpha")

    def plan(self) -> Plan:
        """What is to be done now, read anew."""
        return Plan(config.load_file(self.folder / "config/config.yaml"))

    def trial(self, repetition: int = 1, slug: str = "alpha") -> Trial:
        return Trial(self.plan().task("artifact", "algorithmic", slug), "asked", repetition)

    def paths(self, repetition: int = 1, slug: str = "alpha") -> TrialPaths:
        return self.plan().paths(self.trial(repetition, slug))

    @property
    def workspace(self) -> Path:
        return self.paths().workspace

    @property
    def pristine(self) -> Path:
        return self.plan().task_paths(self.trial().task).pristine

    def prepare(self, slug: str = "alpha") -> None:
        """Make the task's inputs."""
        plan = self.plan()
        spec = plan.artifact.inputs_spec(plan.task("artifact", "algorithmic", slug))
        inputs.main(json.dumps(spec), json.dumps(plan.config.to_value()))

    def words(self, repetition: int = 1) -> list[str]:
        """The trial stage as a command line."""
        plan = self.plan()
        spec = json.dumps(plan.artifact.trial_spec(self.trial(repetition)))
        return [sys.executable, "-m", "regrade.trial", spec, json.dumps(plan.config.to_value())]

    def act(self, repetition: int = 1, slug: str = "alpha") -> dict[str, Any]:
        """Run the trial stage in this process, after the inputs if they are missing; its outcome."""
        plan = self.plan()
        planned = self.trial(repetition, slug)
        if not plan.task_paths(planned.task).inputs.exists():
            self.prepare(slug)
        trial.main(json.dumps(plan.artifact.trial_spec(planned)), json.dumps(plan.config.to_value()))
        return dict(files.read_json(plan.paths(planned).outcome))

    def record(self, repetition: int = 1) -> dict[str, Any]:
        """Grade the trial; its final record."""
        plan, planned = self.plan(), self.trial(repetition)
        spec = plan.artifact.grade_spec(planned)
        grade.main(json.dumps(spec))
        # A trial's own error moves its attempt on, which no digest holds.
        return records.records(self.plan(), [planned])[0]

    def run(self, repetition: int = 1) -> dict[str, Any]:
        """Act and grade; the final record."""
        self.act(repetition)
        return self.record(repetition)


def call(code: str, language: str = "python", identity: str = "c1") -> dict[str, Any]:
    """A native call of execute_code, as a server says it."""
    arguments = json.dumps({"language": language, "code": code})
    return {"id": identity, "type": "function", "function": {"name": "execute_code", "arguments": arguments}}


def calling(*codes: str, **answer: Any) -> dict[str, Any]:
    """An answer that calls the tool, once for each piece of Python."""
    calls = [call(code, identity=f"c{place}") for place, code in enumerate(codes)]
    return {"text": "", "tool_calls": calls, "finish_reason": "tool_calls", **answer}


WRITE_42 = (
    "import pathlib; pathlib.Path('output').mkdir(exist_ok=True); pathlib.Path('output/answer.txt').write_text('42')"
)
DONE = {"text": "Done."}
