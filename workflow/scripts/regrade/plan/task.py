"""What every format's task shows of itself, and a trial of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from regrade import digests
from regrade.errors import Fault
from regrade.files import recorded

Specification = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """One task of any format. `source` is what its loader made of it; `case` is its name in file names."""

    format: str
    id: str
    collection: str
    case: str
    source: Any
    category: str | None = None
    difficulty: str | None = None
    tags: tuple[str, ...] = ()
    repetitions: int | None = None
    """The task's own number of trials, if it says one."""

    draws: bool = False
    """Whether one trial takes several answers, so that nobody's number of repetitions counts (pass_at_k)."""

    fault: str = ""
    """Why it cannot be asked, where one faulty task does not stop the others of its file."""


@dataclass(frozen=True)
class Trial:
    """A task under an arm, once. `repetition` counts from 1."""

    task: Task
    arm: str
    repetition: int

    @property
    def name(self) -> str:
        return f"{self.task.id} under {self.arm}, repetition {self.repetition}"


class Output(NamedTuple):
    """What one stage declares for a trial, and whether what lies there was made from what the plan says."""

    files: tuple[Path, ...]
    is_fresh: Callable[[], bool]


def carries(path: Path, planned: dict[str, str]) -> bool:
    """Whether a result's `digests` hold all these."""
    found = recorded(path).get("digests", {})
    return all(found.get(name) == digest for name, digest in planned.items())


def holds(folder: Path, listed: dict[str, Any]) -> bool:
    """Whether a folder has exactly the files of a manifest (name -> {"sha256", ...}), byte for byte."""
    try:
        found = {name: digests.of_file(Path(entry.path)) for name, entry in digests.walk(folder)}
    except OSError:
        return False
    return found == {name: entry["sha256"] for name, entry in listed.items()}


class FormatPlan(Protocol):
    """What the plan asks of a format: its tasks, and what makes their results."""

    place: str
    """The folder of its tasks, for messages."""

    tasks: dict[str, Task]
    faults: dict[str, list[Fault]]
    """Tasks without a fault, and the faults of the others, both by id in a fixed order."""

    def collection_of(self, identifier: str) -> str:
        """The collection of an id, also of a faulty task."""

    def identifier(self, collection: str, case: str) -> str:
        """The id of the task whose files bear these names; any text if there is none."""

    def harness(self, trial: Trial) -> str:
        """How a trial's task is answered under its arm, for its record."""

    def trial_digest(self, trial: Trial) -> str:
        """The digest of what an answer is made from."""

    def grade_digests(self, trial: Trial) -> dict[str, str]:
        """The digests that a trial's grade must carry to be fresh."""

    def outputs(self, trial: Trial) -> list[Output]:
        """What the stages of a trial declare, first made first."""
