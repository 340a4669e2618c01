"""What the plans of all formats are made with, and how the specification of a job is finished."""

from collections.abc import Callable
from pathlib import Path

from regrade import digests
from regrade.config import Config
from regrade.layout import TaskPaths, TrialPaths
from regrade.plan.attempts import Attempts
from regrade.plan.task import Specification, Task, Trial


class Jobs:
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

    def _load(self) -> None:
        raise NotImplementedError

    def _finished(self, spec: Specification, errors: Path, /, **places: Path) -> Specification:
        """A specification with its digest, the attempts behind it, and places: these decide nothing about a result."""
        digest = digests.of_value(spec)
        told = {name: str(place) for name, place in places.items()}
        return {**spec, **told, "digest": digest, "attempt": self._attempts.of(errors, digest)}
