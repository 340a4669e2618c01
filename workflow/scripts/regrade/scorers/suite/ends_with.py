"""Type `ends_with`: the last line that is not blank ends with the expected word or words."""

import re

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract
from regrade.scorers.suite.normalised import expected, folded, shown, text_of
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong

_AROUND = " \t.,!?;:\"'()[]{}*_`~«»。、！？「」『』"
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of scripts that put no blanks between words, or join endings to them."""


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Punctuation, quotes, brackets and emphasis around the words do not count, nor do case and accents."""
    wanted = _words(text_of(expected(task.scoring)))
    if not wanted:
        return wrong("the task expects nothing: its value is empty")
    found = extract.answer(task, response)
    if found is None:
        return extract.nothing(task, response)
    lines = [line for line in re.split(r"\r\n|\n|\r", found) if line.strip()]
    last = _words(lines[-1])[-len(wanted) :] if lines else []
    said = shown(" ".join(last))
    if last == wanted or (last and last[:-1] == wanted[:-1] and _ends(last[-1], wanted[-1])):
        return right(f"ends with {said}")
    return wrong(f"ends with {said}, expected {shown(' '.join(wanted))}")


def _words(line: str) -> list[str]:
    """The words of a line as they are compared; mere signs are none, where there are words too."""
    words = [word for word in (piece.strip(_AROUND) for piece in folded(line).split()) if word]
    return [word for word in words if any(sign.isalnum() for sign in word)] or words


def _ends(word: str, wanted: str) -> bool:
    return bool(_UNSPACED.match(wanted)) and word.endswith(wanted)
