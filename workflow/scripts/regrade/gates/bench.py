"""A task on the bench: its inputs made once, any number of artifacts graded on them."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from regrade import sandbox
from regrade.formats.artifact import ArtifactTask
from regrade.graders import Conditions, GraderLimits, Verdict, grade_workspace
from regrade.graders.grading import USUAL, USUAL_LIMITS
from regrade.inputs import materialize


class Bench:
    """Made by `bench`. One thread works on one bench."""

    def __init__(self, task: ArtifactTask, folder: Path, mode: sandbox.Mode, limits: GraderLimits) -> None:
        self.task, self.mode = task, mode
        self._folder, self._limits = folder, limits
        self._numbers = count()

    @property
    def pristine(self) -> Path:
        return self._folder / "pristine"

    def grade(self, artifact: bytes, conditions: Conditions = USUAL) -> Verdict:
        """The verdict on an artifact with these bytes beside the pristine inputs."""
        place = self._folder / f"workspace-{next(self._numbers)}"
        file = place / self.task.output_artifact
        file.parent.mkdir(parents=True)
        file.write_bytes(artifact)
        try:
            return self.grade_folder(place, conditions)
        finally:
            shutil.rmtree(place)

    def grade_folder(self, workspace: Path, conditions: Conditions = USUAL) -> Verdict:
        """The verdict on a whole workspace."""
        return grade_workspace(
            grader=self.task.grader.parent,
            pristine=self.pristine,
            workspace=workspace,
            output_artifact=self.task.output_artifact,
            scratch=self._folder / "grading",
            limits=self._limits,
            mode=self.mode,
            conditions=conditions,
        )


@contextmanager
def bench(
    task: ArtifactTask,
    mode: sandbox.Mode = "bubblewrap",
    limits: GraderLimits = USUAL_LIMITS,
) -> Iterator[Bench]:
    """A bench in a temporary folder. Raises InputsError or SandboxError if the inputs cannot be made."""
    with tempfile.TemporaryDirectory(prefix="regrade-bench-") as folder:
        made = Bench(task, Path(folder), mode, limits)
        materialize(task, made.pristine, mode)
        yield made
