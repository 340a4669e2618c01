"""How a model gets to act. One module a harness, each with `WRITES_IN_PLACE` and `run(context, acted)`.

    oracle        the reference answer, as a ceiling
    nop           nothing, as a floor
    single_shot   one answer that names whole files
    code_only     a loop with one tool that runs code in the sandbox
    tool_rich     a loop with tools for files beside it
    agent_loop    the loop of a suite's task, on a repository with tests
    direct        one answer, for tasks that say themselves how it is used

`run` fills the workspace, and `acted` as it goes: what was paid for counts also when an exception ends the trial.
"""

import importlib
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from regrade.config import Config
from regrade.errors import InputsError
from regrade.layout import TrialPaths

if TYPE_CHECKING:
    from regrade.models.types import ChatResponse


@dataclass(frozen=True)
class Context:
    """What a harness is given: the stage's specification, the configuration, and a workspace to fill."""

    spec: dict[str, Any]
    config: Config
    paths: TrialPaths
    workspace: Path

    @property
    def output_artifact(self) -> str:
        """The file that is asked for, "" where it is the workspace itself."""
        return str(self.spec["task"]["output_artifact"])

    @property
    def prompt(self) -> str:
        """The task's prompt, verbatim. Raises InputsError if it is no UTF-8."""
        if "prompt_text" in self.spec["task"]:
            return str(self.spec["task"]["prompt_text"])
        path = Path(self.spec["task"]["prompt"])
        try:
            return path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputsError(f"{path}: is not UTF-8: {error}") from error

    def raw(self, kind: str) -> Path:
        """Where a raw file of this trial lies."""
        return self.paths.raw(kind, self.spec["single"])

    def enforced(self, budget: str) -> float:
        """A budget of the task (max_code_runs, max_wall_seconds) as far as it binds; 0 is unlimited."""
        return float(self.spec["task"][budget]) if self.spec.get("enforce_budgets") else 0.0


@dataclass
class Acted:
    """How a trial went, before grading. `reason` is a hint for the grade stage; empty when nothing stood out.

    `wall_s` is time worked, by the model and by code, in the original calls where answers come from the store.
    """

    reason: str = ""
    message: str = ""
    responses: list["ChatResponse"] = field(default_factory=list)
    wall_s: float = 0.0
    sandbox: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    code_runs: int = 0
    progress: dict[str, Any] | None = None
    """How far an agent loop came (loop/progress.py)."""


def load(name: str) -> ModuleType:
    """The module of a harness by its name in the configuration."""
    return importlib.import_module(f"regrade.harnesses.{name.replace('-', '_')}")
