"""Type `exact`: the whole answer is the expected text, whatever the case and the blanks at its ends."""

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import choices, extract, math_equality
from regrade.scorers.suite.normalised import expected, shown, text_of, visible
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Trimmed, case folded and composed, then equal; with `equality: math` equal as mathematics.

    With `extract: choice` several expected options are a set: all of them, in any order, and no other.
    """
    wanted = expected(task.scoring)
    if wanted is None:
        return wrong("the task expects nothing: it has no value")
    found = extract.answer(task, response)
    if found is None:
        return extract.nothing(task, response)
    if task.scoring.get("equality") == "math":
        return math_equality.score(text_of(wanted), found)
    is_choice = task.scoring.get("extract") == "choice"
    if _form(found) == _form(text_of(wanted)) or (is_choice and choices.listed(found) == choices.listed(wanted)):
        return right(f"is {shown(found)}")
    return wrong(f"is {shown(found)}, expected {shown(text_of(wanted))}")


def _form(text: str) -> str:
    return visible(visible(text).casefold()).strip()
