"""The tools of an agent loop on a repository: files, and the tests that the model can see."""

from collections.abc import Callable
from pathlib import Path

from regrade.errors import SandboxError
from regrade.harnesses.loop.actions import Action
from regrade.harnesses.loop.files import Files, Observation
from regrade.repository_tests import TestCommand, Tested, run_visible
from regrade.statuses import status_of

RunTests = Callable[[], Observation]


class Repository:
    """One workspace and how its tests are run."""

    names = ("list_files", "read_file", "write_file", "run_tests", "final")

    def __init__(self, folder: Path, run_tests: RunTests) -> None:
        self._files = Files(folder, guards_tests=True)
        self._run_tests = run_tests

    def do(self, action: Action) -> Observation:
        """Carry out an action but final. Raises SandboxError where tests cannot be run, OSError for a full disk."""
        return self._run_tests() if action.tool == "run_tests" else self._files.do(action.tool, action.args)


def run_tests(folder: Path, command: TestCommand, mode: str) -> tuple[Observation, Tested]:
    """What a model is told of a run of the visible tests, and all about it. Raises SandboxError if they cannot run."""
    tested = run_visible(folder, command, mode)
    if tested.reason and status_of(tested.reason) != "failed":
        raise SandboxError(tested.detail)
    return Observation(tested.passed, f"{tested.detail}: {tested.output}" if tested.output else tested.detail), tested
