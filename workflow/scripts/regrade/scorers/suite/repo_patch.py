"""Type `repo_patch`: the answer changes files of a repository, and its tests, also the hidden ones, pass then."""

import contextlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regrade import repository_tests
from regrade.errors import SandboxError
from regrade.formats.suite.task import SuiteTask
from regrade.patches.apply import apply_response
from regrade.repository_tests import tree
from regrade.repository_tests.protected import is_outside
from regrade.scorers.suite.json_in_text import find, objects
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, right, wrong
from regrade.statuses import status_of

TIMEOUT_S = 60.0
_NAMED = re.compile(r"```[^\n`]*?\bpath=([^\s`]+)[^\n`]*\n(.*?)```", re.DOTALL)
_FENCED_DIFF = re.compile(r"```[^\n`]*\n((?:diff --git |--- )[^\n]*\n.*?)```", re.DOTALL)
_BARE_DIFF = ("diff --git ", "--- ")


class _Refused(Exception):  # noqa: N818 (an answer, not a fault)
    """Why an answer changes nothing: a reason of statuses.TABLE, and words."""


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """One path that the answer may not write refuses all of it."""
    scoring = task.scoring
    if tools.code_execution == "off":
        return no_verdict("code_not_allowed", "code that a model wrote is not run (code_execution: off)")
    pristine = Path(task.fixture or str(scoring.get("repo_fixture", "")))
    if not pristine.is_dir():
        return wrong(f"the task's repository {str(pristine)!r} is no folder", "tests_failed")
    hidden = [
        repository_tests.HiddenTest(str(test.get("path")), str(test.get("content")))
        for test in scoring.get("hidden_tests") or []
        if isinstance(test, dict)
    ]
    seconds = as_count(scoring.get("timeout")) or TIMEOUT_S
    command = repository_tests.TestCommand(scoring.get("test_command") or (), seconds)
    with _copy(pristine) as workspace:
        try:
            _change(workspace, response.text)
        except _Refused as why:
            return wrong(why.args[1], why.args[0])
        except SandboxError as error:
            return no_verdict("sandbox_error", str(error))
        tested = repository_tests.run_hidden(pristine, workspace, command, hidden, tools.code_execution)
    if tested.passed:
        return right(tested.detail, **tested.about)
    if status_of(tested.reason) != "failed":
        return no_verdict(tested.reason, tested.detail, **tested.about)
    return wrong(tested.detail, tested.reason, **tested.about)


@contextlib.contextmanager
def _copy(pristine: Path) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="regrade-patch-"))
    try:
        tree.copy(pristine, place / "tree")
        yield place / "tree"
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _change(workspace: Path, answer: str) -> None:
    """Apply what an answer changes: whole files as JSON, whole files in fences, or a diff. Raises _Refused."""
    files = _files_of(answer)
    if files is None:
        _apply_diff(workspace, answer)
        return
    if not files:
        raise _Refused("empty_patch", "the answer names no file")
    for name, content in files.items():
        _require_allowed(name)
        if not isinstance(content, str):
            raise _Refused("invalid_format", f"{name} holds {type(content).__name__}, expected the file's text")
    for name, content in files.items():
        path = workspace / name
        if path.is_dir() or any(parent.is_file() for parent in path.parents if parent != workspace):
            raise _Refused("patch_rejected", f"{name} cannot be written: a folder or a file stands in its way")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", errors="surrogateescape")


def _files_of(answer: str) -> dict[str, Any] | None:
    """Whole files by their path, None if the answer has none in either form."""
    for value in (value for found in find(answer) for value in objects(found.value)):
        if isinstance(value.get("files"), dict):
            return {
                str(name): entry["content"] if isinstance(entry, dict) and "content" in entry else entry
                for name, entry in value["files"].items()
            }
    named = {name.strip("\"'"): content for name, content in _NAMED.findall(answer)}
    return named or None


def _require_allowed(name: str) -> None:
    if not name.strip() or is_outside(name):
        raise _Refused("patch_rejected", f"{name!r} leads out of the repository")
    if repository_tests.is_protected(name):
        raise _Refused("patch_rejected", f"{name} belongs to the tests, which an answer may not change")


def _apply_diff(workspace: Path, answer: str) -> None:
    fenced = _FENCED_DIFF.search(answer)
    bare = answer if answer.lstrip().startswith(_BARE_DIFF) else ""
    diff = fenced[1] if fenced else bare
    if not diff and "```diff" not in answer and "```patch" not in answer:
        reason = "invalid_format" if answer.strip() else "no_response"
        raise _Refused(reason, "the answer holds neither files nor a diff")
    for line in re.findall(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)", diff, re.MULTILINE):
        if line != "/dev/null":
            _require_allowed(line.strip())
    for name in re.findall(r"^rename (?:from|to) (.+)$", diff, re.MULTILINE):
        _require_allowed(name)
    before = _state(workspace)
    applied = apply_response(workspace, f"```diff\n{diff.rstrip()}\n```\n" if diff else answer, TIMEOUT_S)
    if not applied.applied:
        raise _Refused(applied.reason or "patch_rejected", (applied.stderr + applied.detail).strip())
    changed = {name for name, content in _state(workspace).items() if before.get(name) != content}
    for name in changed:
        _require_allowed(name)


def _state(workspace: Path) -> dict[str, bytes]:
    return {str(path.relative_to(workspace)): path.read_bytes() for path in workspace.rglob("*") if path.is_file()}
