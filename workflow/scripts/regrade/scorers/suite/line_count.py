"""Type `line_count`: the answer has exactly so many lines that are not blank."""

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """The expected number is `value`, else `count`; lines end with a line feed."""
    scoring = task.scoring
    said = scoring["value"] if scoring.get("value") is not None else scoring.get("count")
    wanted = as_count(said)
    if wanted is None:
        return wrong("the task's value or count is no number")
    lines = sum(bool(line.strip()) for line in response.text.split("\n"))
    found = f"{lines} lines that are not blank"
    return right(found) if lines == int(wanted) else wrong(f"{found}, expected {int(wanted)}")
