"""Where a task's prepared files lie, beside its inputs.json: made once, read by all its trials."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Prepared:
    """The folders of one task. `folder` is results/tasks/selfbench/<collection>/<case>/."""

    folder: Path

    @property
    def base(self) -> Path:
        """The base commit's files alone."""
        return self.folder / "base"

    @property
    def repository(self) -> Path:
        """What git keeps of them: one commit."""
        return self.folder / "base.git"

    @property
    def agent(self) -> Path:
        """The files after the set-up: what agents work on. Where every format has its pristine inputs."""
        return self.folder / "workspace"

    @property
    def verifier(self) -> Path:
        """The files that tests run on: those of agents, unless the reference solution changes what it depends on."""
        other = self.folder / "verifier"
        return other if other.is_dir() else self.agent

    @property
    def agent_home(self) -> Path:
        """What the set-up left in its home folder."""
        return self.folder / "home"

    @property
    def verifier_home(self) -> Path:
        """The same of the second set-up, if there was one."""
        other = self.folder / "verifier-home"
        return other if other.is_dir() else self.agent_home

    @property
    def log(self) -> Path:
        """What the set-up printed."""
        return self.folder / "setup.log"

    @property
    def gate(self) -> Path:
        """Whether trials may be made, and why not: nothing else, so that they are not made again for a detail."""
        return self.folder / "gate.json"

    @property
    def gates(self) -> Path:
        """What audit, nop, reference solution and coupling showed."""
        return self.folder / "gates.json"
