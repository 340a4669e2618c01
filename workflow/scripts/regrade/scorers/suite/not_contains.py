"""Type `not_contains`: nothing of `forbidden` stands in the answer."""

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import extract
from regrade.scorers.suite.normalised import shown, text_of, visible
from regrade.scorers.suite.scored import Response, Score, Tools, right, wrong


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """Case aside, accents not: café is not cafe. An empty answer is none, and passes nothing."""
    said = task.scoring.get("forbidden")
    forbidden = said if isinstance(said, list) else [said]
    words = [text_of(word) for word in forbidden if text_of(word)]
    if not words:
        return wrong("the task forbids nothing: it has no forbidden")
    if not response.text:
        return wrong("there is no answer that could avoid anything", "no_response")
    found = extract.answer(task, response)
    if found is None:
        return extract.nothing(task, response)
    text = visible(found).casefold()
    for word in words:
        if visible(word).casefold() in text:
            return wrong(f"contains the forbidden {shown(word)}")
    return right(f"contains none of {len(words)} forbidden texts")
