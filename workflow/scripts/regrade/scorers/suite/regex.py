"""Type `regex`: Python's `re.search`, ignoring case, a dot matching line ends too, within a time limit."""

import re

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.bounded import BoundedError, run_bounded
from regrade.scorers.suite import extract
from regrade.scorers.suite.normalised import shown
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, right, wrong

CPU_S = 5.0
_REPEATED = re.compile(r"[*+?{]")


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """A pattern that is missing or none matches nothing; a search without an end is no verdict."""
    pattern = task.scoring.get("pattern")
    if not isinstance(pattern, str) or not pattern:
        return wrong("the task has no pattern")
    try:
        compiled = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        return wrong(f"the task's pattern {shown(pattern)} is not valid: {error}")
    text = extract.answer(task, response)
    if text is None:
        return extract.nothing(task, response)
    try:
        found = search(compiled, text)
    except BoundedError as error:
        return no_verdict("grader_error", f"searching with pattern {shown(pattern)} {error}")
    return right(f"matches {shown(pattern)}") if found else wrong(f"nothing matches {shown(pattern)}")


def search(compiled: re.Pattern[str], text: str) -> bool:
    """Whether a pattern is found. Raises BoundedError beyond the limit; what cannot take long runs without a child."""
    if not _REPEATED.search(compiled.pattern):
        return compiled.search(text) is not None
    return bool(run_bounded(lambda: compiled.search(text) is not None, CPU_S))
