"""Type `exact`: the whole answer is the expected text, whatever the case and the blanks at its ends."""

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract, math_equality
from regrade.scorers.suite.normalised import expected, shown, text_of, visible
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Trimmed, case folded and composed, then equal; with `equality: math` equal as mathematics."""
    wanted = expected(task.scoring)
    if wanted is None:
        return wrong("the task expects nothing: it has no value")
    found = extract.text(response.text, task.scoring.get("extract"))
    if found is None:
        return wrong(f"no {task.scoring['extract']} answer in {shown(response.text)}", "invalid_format")
    if task.scoring.get("equality") == "math":
        return math_equality.score(text_of(wanted), found)
    if _form(found) == _form(text_of(wanted)):
        return right(f"is {shown(found)}")
    return wrong(f"is {shown(found)}, expected {shown(text_of(wanted))}")


def _form(text: str) -> str:
    return visible(visible(text).casefold()).strip()
