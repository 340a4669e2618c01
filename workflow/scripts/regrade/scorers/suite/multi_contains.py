"""Type `multi_contains`: all of `values` stand in the answer, or of each of `groups` one member."""

from typing import Any

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract
from regrade.scorers.suite.normalised import folded, shown, text_of
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Found as by `contains`. Groups count before values; a text of nothing is found nowhere."""
    groups = _groups(task.scoring)
    if not groups:
        return wrong("the task expects nothing: it has neither groups nor values")
    found = extract.answer(task, response)
    if found is None:
        return extract.nothing(task, response)
    text = folded(found)
    for group in groups:
        if not any(folded(word) and folded(word) in text for word in group):
            return wrong(f"contains none of {', '.join(shown(word, 40) for word in group[:8])}")
    return right(f"contains all {len(groups)} that were expected")


def _groups(scoring: dict[str, Any]) -> list[list[str]]:
    groups = _listed(scoring.get("groups")) or [[value] for value in _listed(scoring.get("values"))]
    return [[text_of(word) for word in _listed(group)] for group in groups]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
