"""Type `contains_n`: the expected text stands in the answer at least `min_count` times (1), without overlaps."""

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract
from regrade.scorers.suite.normalised import expected, folded, shown, text_of
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Counted as `contains` finds."""
    wanted, least = text_of(expected(task.scoring)), as_count(task.scoring.get("min_count", 1))
    if not folded(wanted) or least is None:
        return wrong("the task expects nothing: its value is empty, or its min_count no number")
    found = extract.answer(task, response)
    if found is None:
        return extract.nothing(task, response)
    times = folded(found).count(folded(wanted))
    said = f"contains {shown(wanted)} {times} times"
    return right(said) if times >= least else wrong(f"{said}, expected at least {least:g}")
