"""Type `contains`: the expected text stands somewhere in the answer."""

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract
from regrade.scorers.suite.normalised import expected, folded, shown, text_of
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Case and accents aside; an expected text of nothing is found nowhere."""
    wanted = text_of(expected(task.scoring))
    if not folded(wanted):
        return wrong("the task expects nothing: its value is empty")
    found = extract.answer(task, response)
    if found is None:
        return extract.nothing(task, response)
    if folded(wanted) in folded(found):
        return right(f"contains {shown(wanted)}")
    return wrong(f"does not contain {shown(wanted)}: {shown(found)}")
