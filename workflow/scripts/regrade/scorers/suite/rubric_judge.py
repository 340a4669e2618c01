"""Type `rubric_judge`: a judge holds the answer against weighted criteria, and gives a verdict on each."""

import re
from typing import Any, NamedTuple

from regrade.formats.suite.task import SuiteTask
from regrade.judge import JudgeError, NoNumberError, messages, read_number
from regrade.scorers.suite.judging import Reply, ask, material
from regrade.scorers.suite.normalised import text_of
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, partly

WORTH = {"PASS": 1.0, "PARTIAL": 0.5, "FAIL": 0.0}
MAX_TOKENS = 768
TIMEOUT_S = 90
ROUNDING = 0.02
"""How far a judge's total may be from its verdicts: it rounds, and adds up by heart."""

_WORDS = "|".join(WORTH)
_BETWEEN = r"[^\w\n]{0,20}"
_VERDICT = re.compile(
    rf"(?<![a-z])CRITERION{_BETWEEN}(\d{{1,4}}){_BETWEEN}(?:\([^)\n]{{0,200}}\){_BETWEEN})?({_WORDS})(?![\w-])"
    # "PASS, PARTIAL or FAIL" repeats what was asked for and is no verdict.
    rf"(?!{_BETWEEN}(?:or\b{_BETWEEN})?(?:{_WORDS})\b)",
    re.IGNORECASE,
)


class _Criterion(NamedTuple):
    text: str
    weight: float


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """The weighted mean of the verdicts (PARTIAL is a half); without verdicts the judge's own RUBRIC_SCORE, 0 to 1.

    Anything else is no verdict. Where both are there and contradict, the verdicts count, and `about` says so.
    """
    criteria = _criteria(task.scoring.get("criteria"))
    if not criteria:
        return no_verdict("judge_error", "the task's criteria are no list of {criterion, weight}: nobody was asked")
    listed = "\n".join(f"{number}. {text} (weight {weight:g})" for number, (text, weight) in enumerate(criteria, 1))
    asked = messages(
        material(task, response, listed),
        f"CRITERION n: {', '.join(WORTH)}, one of them (n is 1 to {len(criteria)})",
        ending="one line for each criterion, in their order",
    )
    reply = ask(tools.judge, asked, MAX_TOKENS, TIMEOUT_S)
    if not isinstance(reply, Reply):
        return reply
    try:
        value, about = _read(reply.text, [criterion.weight for criterion in criteria])
    except JudgeError as error:
        return reply.unreadable(error)
    return partly(value, f"the judge's verdicts make {value:.4g}", judge={**reply.about, **about})


def _criteria(said: Any) -> list[_Criterion]:
    """A task's criteria, a text alone weighs 1; none if one of them cannot be read."""
    found = []
    for entry in said if isinstance(said, list) else []:
        table = entry if isinstance(entry, dict) else {"criterion": entry}
        text, weight = text_of(table.get("criterion")), as_count(table.get("weight", 1))
        if not text.strip() or weight is None or weight < 0:
            return []
        found.append(_Criterion(text, weight))
    return found


def _read(text: str, weights: list[float]) -> tuple[float, dict[str, Any]]:
    """The value of a reply, and what is to be noted beside it. Raises JudgeError."""
    verdicts = {int(number): verdict.upper() for number, verdict in _VERDICT.findall(text)}
    total = _total(text)
    if not verdicts and total is not None:
        return total, {"total": total}
    if set(verdicts) != set(range(1, len(weights) + 1)):
        given = ", ".join(map(str, sorted(verdicts)))[:80] or "none"
        raise JudgeError(f"the judge gave verdicts on criteria {given}, expected one on each of 1 to {len(weights)}")
    reached = sum(weight * WORTH[verdicts[number]] for number, weight in enumerate(weights, 1))
    value = reached / sum(weights) if any(weights) else 0.0
    about: dict[str, Any] = {"verdicts": [verdicts[number] for number in sorted(verdicts)]}
    if total is not None:
        about |= {"total": total, "contradicts": abs(total - value) > ROUNDING}
    return value, about


def _total(text: str) -> float | None:
    """The judge's own total, None where it gives none. Raises JudgeError for one out of range."""
    try:
        return read_number(text, 0, 1, r"rubric[_ ]score")
    except NoNumberError:
        return None
