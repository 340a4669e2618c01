"""Known turns through the same loop: how recorded answers, and the references of suites, are carried out and scored."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regrade import repository_tests
from regrade.errors import SandboxError
from regrade.formats.suite.task import MAX_STEPS, TEST_TIMEOUT_S, SuiteTask
from regrade.harnesses.loop.progress import Progress
from regrade.harnesses.loop.repository import Repository, run_tests
from regrade.harnesses.loop.turns import Loop, Rules
from regrade.models import message
from regrade.models.types import Answer
from regrade.repository_tests import tree
from regrade.scorers.suite.assess import Assessed
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Tools
from regrade.statuses import status_of

FAILING = "__raise__"
"""What stands for a call that fails."""


class TurnFailed(Exception):  # noqa: N818 (an answer, not a fault)
    """The model's call failed, or there is no further turn."""


class Turns:
    """Turns that are known, each a text or a message as servers send it."""

    def __init__(self, turns: Any) -> None:
        self._waiting = iter(turns if isinstance(turns, list) else [turns])

    def ask(self, *_: Any) -> Answer:
        """The next turn as an answer. Raises TurnFailed at one that failed, and behind the last."""
        turn = next(self._waiting, FAILING)
        if turn == FAILING:
            raise TurnFailed
        return _of_message(turn) if isinstance(turn, dict) else Answer(message.flat(turn))


def _of_message(turn: dict[str, Any]) -> Answer:
    text, thought = message.split_content(turn.get("content"))
    reasoning = message.reasoning_of(turn) or message.flat(turn.get("thinking")) or thought
    calls = turn.get("tool_calls")
    listed = [_as_sent(call) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return Answer(text, reasoning, message.read_tool_calls({"tool_calls": listed}))


def _as_sent(call: dict[str, Any]) -> dict[str, Any]:
    """A native call as chat completions send it: name and arguments below `function`."""
    return call if isinstance(call.get("function"), dict) else {"id": call.get("id"), "function": call}


def score_turns(task: SuiteTask, turns: Sequence[Any], fixture: Path, tools: Tools) -> Assessed:
    """The verdict on an agent loop's turns, carried out on a copy of its repository.

    `about.progress` has what became of them (progress.py). A task that cannot be carried out at all scores 0.
    """
    command, fault = _command(task), ""
    if tools.code_execution == "off":
        return _verdict(task, None, "code_not_allowed", "code that a model wrote is not run (code_execution: off)")
    if isinstance(command.argv, str) or not any("pytest" in str(word) for word in command.argv):
        fault = f"test_command is {command.argv!r:.80}, expected a list of words with pytest"
    elif not fixture.is_dir():
        fault = f"repo_fixture {str(fixture)!r} is no folder"
    if fault:
        return _verdict(task, 0.0, "tests_failed", fault)
    place = Path(tempfile.mkdtemp(prefix="regrade-loop-"))
    try:
        tree.copy(fixture, place / "tree")
        return _carried_out(task, turns, fixture, place / "tree", tools.code_execution)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _command(task: SuiteTask) -> repository_tests.TestCommand:
    words = task.scoring.get("test_command") or ()
    return repository_tests.TestCommand(words, as_count(task.scoring.get("timeout")) or TEST_TIMEOUT_S)


def _carried_out(task: SuiteTask, turns: Sequence[Any], fixture: Path, workspace: Path, mode: str) -> Assessed:
    command, scoring = _command(task), task.scoring
    steps = as_count(scoring.get("max_steps", MAX_STEPS))
    rules = Rules(MAX_STEPS if steps is None else int(steps), bool(scoring.get("strict_actions")))
    repository = Repository(workspace, lambda: run_tests(workspace, command, mode)[0])
    opening = [{"role": "user", "content": task.prompt}]
    loop = Loop(opening, repository, rules, Turns(list(turns)).ask, lambda _: None)
    progress = loop.progress
    try:
        loop.run()
    except TurnFailed:
        progress.termination = "api_error"
        return _verdict(task, None, progress.reason, "the model's call failed, or there was no further turn", progress)
    except SandboxError as error:
        return _verdict(task, None, "sandbox_error", str(error), progress)
    if progress.termination != "final":
        said = f"the loop ended with {progress.termination}, expected final"
        return _verdict(task, 0.0, progress.reason, said, progress)
    tested = repository_tests.run_hidden(fixture, workspace, command, _hidden(task), mode)
    progress.checks["hidden_tests_passed"] = tested.passed
    failed = bool(tested.reason) and status_of(tested.reason) == "failed"
    value = 1.0 if tested.passed else 0.0 if failed else None
    return _verdict(task, value, tested.reason, tested.detail, progress)


def _hidden(task: SuiteTask) -> list[repository_tests.HiddenTest]:
    listed = task.scoring.get("hidden_tests") or []
    return [repository_tests.HiddenTest(str(test.get("path")), str(test.get("content"))) for test in listed]


def _verdict(
    task: SuiteTask, value: float | None, reason: str, detail: str, progress: Progress | None = None
) -> Assessed:
    about = {"progress": progress.as_value()} if progress else {}
    said = " ".join(detail.split())[:500]
    if value is None:
        return Assessed(None, None, status_of(reason), reason, said, about)
    passed = value >= task.pass_threshold
    return Assessed(value, passed, "passed" if passed else "failed", "" if passed else reason, said, about)
