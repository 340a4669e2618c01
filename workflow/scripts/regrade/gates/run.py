"""Running the gates over many tasks, some at once."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from regrade import sandbox, yaml_file
from regrade.errors import RegradeError
from regrade.formats.artifact import ArtifactTask
from regrade.gates import Finding, leaks, negative, positive, verifiers
from regrade.gates.bench import Bench, bench
from regrade.graders import GraderLimits
from regrade.graders.grading import USUAL_LIMITS

INPUTS = "inputs"
"""Stands in the place of a case when a task's inputs cannot be made."""


def positive_gate(tasks: Iterable[ArtifactTask], jobs: int, mode: sandbox.Mode = "bubblewrap") -> Iterator[Finding]:
    """A finding per task, in order, as they come."""
    return _each(tasks, jobs, mode, lambda made: [positive.check(made)])


def negative_gate(
    tasks: Iterable[ArtifactTask], jobs: int, mode: sandbox.Mode = "bubblewrap", with_nan: bool = False
) -> Iterator[Finding]:
    """Findings per task and case, in order, as they come."""
    return _each(tasks, jobs, mode, lambda made: list(negative.check(made, with_nan)))


def both_gates(
    tasks: Iterable[ArtifactTask], jobs: int, mode: sandbox.Mode = "bubblewrap", limits: GraderLimits = USUAL_LIMITS
) -> tuple[list[Finding], list[Finding]]:
    """Findings of the positive and of the negative gate; each task's inputs are made once for both."""
    found = list(_each(tasks, jobs, mode, lambda made: [positive.check(made), *negative.check(made)], limits))
    accepted = [finding for finding in found if finding.case in ("", INPUTS)]
    return accepted, [finding for finding in found if finding.case]


def _each(
    tasks: Iterable[ArtifactTask],
    jobs: int,
    mode: sandbox.Mode,
    work: Callable[[Bench], list[Finding]],
    limits: GraderLimits = USUAL_LIMITS,
) -> Iterator[Finding]:
    def of_one(task: ArtifactTask) -> list[Finding]:
        try:
            with bench(task, mode, limits) as made:
                return work(made)
        except Exception as error:
            # Foreign graders and cases: what breaks one task's gates must not hide the others' findings.
            return [Finding(task.id, "ERROR", _told(error), case=INPUTS, is_bad=True)]

    with ThreadPoolExecutor(max(jobs, 1)) as pool:
        for findings in pool.map(of_one, tasks):
            yield from findings


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, RegradeError) else f"{type(error).__name__}: {error}"


def lints(folders: Iterable[tuple[str, Path]]) -> Iterator[Finding]:
    """The leak and the verifier lint over (id, task folder): PASS once, or a finding for each fault.

    Raises FaultsError for a manifest that is no YAML.
    """
    for identifier, folder in folders:
        found = [*_leaks(identifier, folder), *_verifier(identifier, folder)]
        yield from found or [Finding(identifier, "PASS", "no leak")]


def _leaks(identifier: str, folder: Path) -> Iterator[Finding]:
    grader = folder / "grader" / "hidden.py"
    try:
        for line, text in leaks.check(grader):
            yield Finding(identifier, "LEAK", f"{grader}:{line}: the detail may tell the answer: {text}", is_bad=True)
    except OSError as error:
        yield Finding(identifier, "ERROR", f"{grader}: cannot be read: {error.strerror}", is_bad=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        yield Finding(identifier, "ERROR", f"{grader}: cannot be read as Python: {error}", is_bad=True)


def _verifier(identifier: str, folder: Path) -> Iterator[Finding]:
    manifest = yaml_file.load(folder / "task.yaml")
    if isinstance(manifest, dict) and (finding := verifiers.check(identifier, folder, manifest)):
        yield finding
