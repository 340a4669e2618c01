"""Type `ends_with`: the last non-empty line ends with the expected word or words."""

import re

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract
from regrade.scorers.suite.normalised import expected, folded, shown, text_of
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong

_AROUND = " \t.,!?;:\"'()[]{}*_`~«»。、！？"


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Punctuation, quotes, brackets and emphasis around the words do not count, nor do case and accents."""
    wanted = folded(text_of(expected(task.scoring))).strip(_AROUND).split()
    if not wanted:
        return wrong("the task expects nothing: its value is empty")
    text = extract.text(response.text, task.scoring.get("extract")) or ""
    lines = [line for line in re.split(r"\r\n|\n|\r", text) if line.strip()]
    words = folded(lines[-1]).split() if lines else []
    last = [word.strip(_AROUND) for word in words if word.strip(_AROUND)][-len(wanted) :]
    if last == [word.strip(_AROUND) for word in wanted] or _ends(words, wanted):
        return right(f"ends with {shown(' '.join(wanted))}")
    return wrong(f"ends with {shown(' '.join(last))}, expected {shown(' '.join(wanted))}")


def _ends(words: list[str], wanted: list[str]) -> bool:
    """Whether a line of a script without blanks between words ends with the expected word."""
    single = len(wanted) == 1 and not wanted[0].isascii()
    return single and bool(words) and words[-1].strip(_AROUND).endswith(wanted[0]) and not words[-1].isascii()
