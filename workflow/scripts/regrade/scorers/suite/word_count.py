"""Type `word_count`: the answer has `min` to `max` words, both included; words are what blanks part."""

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """A bound that is missing does not bind; one that is no number accepts nothing."""
    bounds = {name: as_count(task.scoring[name]) for name in ("min", "max") if task.scoring.get(name) is not None}
    if None in bounds.values():
        return wrong("the task's min or max is no number")
    words = len(response.text.split())
    low, high = bounds.get("min") or 0, bounds.get("max")
    said = f"{words} words"
    if words < low or (high is not None and words > high):
        return wrong(f"{said}, expected {low:g} to {'any number' if high is None else f'{high:g}'}")
    return right(said)
