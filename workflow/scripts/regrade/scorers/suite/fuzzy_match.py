"""Type `fuzzy_match`: the expected text stands in the answer, or the answer is a good part of the expected text."""

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract
from regrade.scorers.suite.normalised import expected, folded, shown, text_of
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong

LEAST = 0.5
"""The share of the expected text that a shorter answer must be: a single letter names nothing."""


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Case and accents aside."""
    wanted = folded(text_of(expected(task.scoring))).strip()
    if not wanted:
        return wrong("the task expects nothing: its value is empty")
    answer = extract.answer(task, response)
    if answer is None:
        return extract.nothing(task, response)
    found = folded(answer).strip()
    if wanted in found or (found in wanted and len(found) >= LEAST * len(wanted)):
        return right(f"matches {shown(wanted)}")
    return wrong(f"is {shown(found)}, expected something like {shown(wanted)}")
