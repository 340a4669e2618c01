"""How a model gets to act. One module a harness, each with `WRITES_IN_PLACE` and `run(context) -> Acted`.

    oracle        the reference answer, as a ceiling
    nop           nothing, as a floor
    single_shot   one answer that names whole files
    code_only     a loop with one tool that runs code in the sandbox
"""

import importlib
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from regrade.config import Config
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
        return str(self.spec["task"]["output_artifact"])

    @property
    def prompt(self) -> str:
        """The task's prompt, verbatim."""
        return Path(self.spec["task"]["prompt"]).read_bytes().decode("utf-8")

    def raw(self, kind: str) -> Path:
        """Where a raw file of this trial lies."""
        return self.paths.raw(kind, self.spec["single"])


@dataclass
class Acted:
    """How a trial went, before grading. `reason` is a hint for the grade stage; empty when nothing stood out."""

    reason: str = ""
    message: str = ""
    responses: list["ChatResponse"] = field(default_factory=list)
    wall_s: float = 0.0
    sandbox: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    code_runs: int = 0


def load(name: str) -> ModuleType:
    """The module of a harness by its name in the configuration."""
    return importlib.import_module(f"regrade.harnesses.{name.replace('-', '_')}")
