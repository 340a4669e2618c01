"""What the plans of all formats are made with, and how the specification of a job is finished."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regrade import digests
from regrade.config import Config
from regrade.files import recorded
from regrade.layout import TaskPaths, TrialPaths
from regrade.plan.attempts import Attempts
from regrade.plan.task import Output, Specification, Task, Trial, carries, holds
from regrade.workspace import work_digest


class Jobs(ABC):
    """A configuration, and where the files of its tasks and trials lie. A format's plan loads its tasks in `_load`."""

    def __init__(
        self,
        config: Config,
        attempts: Attempts,
        paths: Callable[[Trial], TrialPaths],
        task_paths: Callable[[Task], TaskPaths],
    ) -> None:
        self.config = config
        self._attempts = attempts
        self._paths = paths
        self._task_paths = task_paths
        self._load()

    @abstractmethod
    def _load(self) -> None: ...

    @abstractmethod
    def grade_digests(self, trial: Trial) -> dict[str, str]:
        """The digests that a trial's grade must carry to be fresh."""

    def _inputs_output(self, task: Task, digest: str) -> Output:
        """A task's pristine files and the list of them, made from what has this digest."""
        paths = self._task_paths(task)

        def is_fresh() -> bool:
            manifest = recorded(paths.inputs)
            fresh = manifest.get("made_from") == digest
            return fresh and paths.pristine.is_dir() and holds(paths.pristine, manifest.get("files", {}))

        return Output((paths.inputs,), is_fresh)

    def _trial_outputs(self, trial: Trial, digest: str) -> list[Output]:
        """What a trial with this digest left, with its patch, and its grade."""
        paths, asked = self._paths(trial), {"trial": digest}

        def is_fresh() -> bool:
            return paths.patch.exists() and carries(paths.outcome, asked) and is_whole(recorded(paths.outcome))

        def is_whole(outcome: dict[str, Any]) -> bool:
            return outcome.get("status") != "ok" or work_digest(paths.workspace) == outcome["digests"].get("work")

        return [
            Output((paths.outcome, paths.patch), is_fresh),
            Output((paths.grade,), lambda: carries(paths.grade, {**asked, **self.grade_digests(trial)})),
        ]

    def _finished(self, spec: Specification, errors: Path, /, **places: Path) -> Specification:
        """A specification with its digest, the attempts behind it, and places: these decide nothing about a result."""
        digest = digests.of_value(spec)
        told = {name: str(place) for name, place in places.items()}
        return {**spec, **told, "digest": digest, "attempt": self._attempts.of(errors, digest)}
