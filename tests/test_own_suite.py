"""Our own suite: a right answer to every task passes, three wrong ones do not."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from project import REPOSITORY
from regrade.formats.suite import SuiteTask, load_all, oracle
from regrade.harnesses.loop.replay import score_turns
from regrade.scorers.suite.assess import TYPES, Assessed, assess
from regrade.scorers.suite.scored import Response, Tools

SUITES = REPOSITORY / "problems" / "suites"
LOADED = load_all(SUITES)
TASKS = list(LOADED.tasks.values())
WRONG = {
    identifier: answers
    for path in (Path(__file__).parent / "suite_wrong").glob("*.yaml")
    for identifier, answers in yaml.safe_load(path.read_text()).items()
}
CATEGORIES = (
    *("math", "reasoning", "coding", "repo_patch", "agent_loop", "agentic", "instruction_following", "knowledge"),
    *("writing", "summarization"),
)
CRITERIA = {"llm_judge": "SCORE: {}", "rubric_judge": "RUBRIC_SCORE: {}"}


class Judge:
    """A judge that has read the reference answers: whatever equals one is good."""

    about: dict[str, Any] = {"model": "reader", "prompt_version": 1}  # noqa: RUF012 (never changed)

    def __init__(self, reference: str, kind: str) -> None:
        self._reference = reference
        self._kind = kind

    def ask(self, conversation: list[dict[str, Any]], **_: Any) -> str:
        good = self._reference in conversation[1]["content"]
        return CRITERIA[self._kind].format({"llm_judge": (9, 2), "rubric_judge": (1.0, 0.2)}[self._kind][not good])


def verdict(task: SuiteTask, answer: Any) -> Assessed:
    if task.is_loop:
        return score_turns(task, answer, Path(task.fixture or ""), Tools())
    judge = Judge(str(reference(task)), task.scoring_type) if task.scoring_type in CRITERIA else None
    texts = answer if isinstance(answer, list) else [answer]
    return assess(task, [Response(str(text).strip()) for text in texts], Tools(judge=judge))  # type: ignore[arg-type]


def reference(task: SuiteTask) -> Any:
    return oracle.load(oracle.path_of(SUITES, task.stem))[task.id]


def test_the_suite_is_whole() -> None:
    """Ten categories, at least 80 tasks, every scorer, six repositories; nothing is faulty."""
    assert [] == LOADED.all_faults()
    assert set(CATEGORIES) == {task.category for task in TASKS} == {task.stem for task in TASKS}
    assert 80 <= len(TASKS)
    assert set(TYPES) == {task.scoring_type for task in TASKS}
    assert 6 <= len({task.fixture for task in TASKS if task.fixture})
    assert {"easy", "medium", "hard"} == {task.fields["difficulty"] for task in TASKS}
    assert set(WRONG) == set(LOADED.tasks)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_right_answer_passes(task: SuiteTask) -> None:
    """The reference is the ceiling."""
    found = verdict(task, reference(task))
    assert found.passed, found.detail


@pytest.mark.parametrize(
    ("task", "number"),
    [(task, number) for task in TASKS for number in range(3)],
    ids=lambda part: getattr(part, "id", part),
)
def test_wrong_answers_do_not_pass(task: SuiteTask, number: int) -> None:
    """Each wrong in another way, as a model may be."""
    assert 3 == len(WRONG[task.id])
    assert verdict(task, WRONG[task.id][number]).passed is False


def test_prompts_are_small() -> None:
    """The model that comes with Regrade writes about twenty words a second."""
    assert [] == [task.id for task in TASKS if len(task.prompt) > 600 or task.fields["max_tokens"] > 128]
