"""Type `repo_patch`: the answer changes files of a repository, and its tests, also the hidden ones, pass then."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regrade import repository_tests, workspace
from regrade.errors import SandboxError
from regrade.formats.suite.task import TEST_TIMEOUT_S, SuiteTask
from regrade.repository_tests import is_protected, tree
from regrade.scorers.suite import answer_patch
from regrade.scorers.suite.answer_patch import RefusedError
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, right, wrong
from regrade.statuses import status_of


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """One path that the answer may not write refuses all of it."""
    if tools.code_execution == "off":
        return no_verdict("code_not_allowed", "code that a model wrote is not run (code_execution: off)")
    pristine = Path(task.fixture or str(task.scoring.get("repo_fixture", "")))
    if not pristine.is_dir():
        return wrong(f"the task's repository {str(pristine)!r:.200} is no folder", "tests_failed")
    try:
        with _copy(pristine) as folder:
            _change(pristine, folder, response.text)
            return _tested(task, pristine, folder, tools.code_execution)
    except RefusedError as why:
        return _judged(why.reason, str(why))
    except (SandboxError, OSError) as error:
        return no_verdict("sandbox_error", str(error))


@contextlib.contextmanager
def _copy(pristine: Path) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="regrade-patch-"))
    try:
        tree.copy(pristine, place / "tree")
        yield place / "tree"
    finally:
        workspace.remove(place)


def _change(pristine: Path, folder: Path, answer: str) -> None:
    answer_patch.apply(folder, answer, is_protected, TEST_TIMEOUT_S)
    changed = tree.differences(pristine, folder)
    for name in changed:
        if is_protected(name):
            raise RefusedError("patch_rejected", f"{name} belongs to the tests, which an answer may not change")
    if not changed:
        raise RefusedError("empty_patch", "the answer leaves the repository as it was")


def _tested(task: SuiteTask, pristine: Path, folder: Path, mode: str) -> Score:
    scoring = task.scoring
    command = repository_tests.TestCommand(
        scoring.get("test_command") or (), as_count(scoring.get("timeout")) or TEST_TIMEOUT_S
    )
    hidden = []
    for test in scoring.get("hidden_tests") or []:
        if not isinstance(test, dict) or not all(isinstance(test.get(key), str) for key in ("path", "content")):
            return wrong(f"hidden test {test!r:.100}: expected a path and a content, both texts", "tests_failed")
        hidden.append(repository_tests.HiddenTest(test["path"], test["content"]))
    tested = repository_tests.run_hidden(pristine, folder, command, hidden, mode)
    if tested.passed:
        return right(tested.detail, **tested.about)
    return _judged(tested.reason, tested.detail, **tested.about)


def _judged(reason: str, detail: str, **about: Any) -> Score:
    """A failure of the answer's, or no verdict where the reason blames something else."""
    if status_of(reason) == "failed":
        return wrong(detail, reason, **about)
    return no_verdict(reason, detail, **about)
