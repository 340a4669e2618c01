"""How the answer is found in a response, where the task says it (`extract:`)."""

import json
import re
from typing import Any

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite import choices, json_in_text
from regrade.scorers.suite.normalised import shown
from regrade.scorers.suite.scored import Response, Score, wrong

_BRACES = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf|mbox)\s*(?=\{)")
_FENCED = re.compile(r"(?:```|~~~)[^\n`]*\n(.*?)(?:```|~~~)", re.DOTALL)
_HEAD = re.compile(
    r"(?:#{1,6}\s{1,3})?[*_`]{0,3}(?:the\s)?(?:final\s|correct\s)?answer[*_`]{0,3}\s?(?::|=|is\b:?)[*_`]{0,3}\s{0,3}"
    r"|#{1,6}\s{1,3}",
    re.IGNORECASE,
)


def text(response: str, how: str | None) -> str | None:
    """The part of a response that is its answer; the whole without `how`, None where there is none.

    first, last     the first or last line that is not blank, without an `Answer:` before it and emphasis around it
    unique          that line, if there is but one
    boxed           what the last \\boxed{} holds
    choice          the option's letter or number, several with commas between
    json            the text of the first JSON value, or of its `answer`, `value` or `result`
    """
    if how is None or how == "closest":
        return response
    if how == "boxed":
        return boxed(response)
    if how == "choice":
        return ", ".join(choices.named(response)) or None
    if how == "json":
        return from_json(response)
    lines = [line.strip() for line in response.splitlines() if line.strip()]
    if not lines or (how == "unique" and len(lines) > 1):
        return None
    line = lines[-1 if how == "last" else 0]
    return _HEAD.sub("", line, count=1).strip("*` ") if _HEAD.match(line) else line.strip("*` ")


def answer(task: SuiteTask, response: Response) -> str | None:
    """The part of a response that its task's `extract` names."""
    return text(response.text, task.scoring.get("extract"))


def nothing(task: SuiteTask, response: Response) -> Score:
    """The score of a response in which `extract` found no answer."""
    return wrong(f"no {task.scoring.get('extract')} answer in {shown(response.text)}", "invalid_format")


def boxed(response: str) -> str | None:
    """What the last \\boxed{} holds, without a \\text{} around all of it; None if there is none, or it is cut off."""
    found = boxes(response)
    return found[-1] if found else None


def boxes(response: str) -> list[str]:
    """What each \\boxed{} holds, in the order in which they begin, braces inside matched; none if one is cut off."""
    found: dict[int, str] = {}
    waiting: list[tuple[int, bool]] = []
    for token in _BRACES.finditer(response):
        if token[0][0] == "\\" and len(token[0]) > 2:
            waiting.append((token.end(), True))
            found[token.end()] = ""
        elif token[0] == "{":
            waiting.append((token.end(), False))
        elif token[0] == "}" and waiting:
            start, is_box = waiting.pop()
            if is_box:
                found[start] = _without_text(response[start : token.start()].strip())
    return [] if any(is_box for _, is_box in waiting) else list(found.values())


def _without_text(inside: str) -> str:
    """What stands in a \\text{} that holds everything."""
    wrapped = _TEXT.match(inside)
    if not wrapped or not inside.endswith("}"):
        return inside
    depth = 0
    for token in _BRACES.finditer(inside, wrapped.end()):
        depth += {"}": -1}.get(token[0], 1 if token[0].endswith("{") and token[0] != "\\{" else 0)
        if depth == 0:
            return inside[wrapped.end() + 1 : -1].strip() if token.end() == len(inside) else inside
    return inside


def from_json(response: str) -> str | None:
    """The text of the first JSON value in a response: texts as they are, anything else as it is written."""
    fenced = _FENCED.search(response)
    for whole in (response, fenced[1] if fenced else ""):
        try:
            return _text_of(json.loads(whole))
        except (ValueError, RecursionError):
            continue
    found = next(json_in_text.find(response), None)
    return _text_of(found.value) if found else None


def _text_of(value: Any) -> str:
    if isinstance(value, dict):
        value = next((value[name] for name in ("answer", "value", "result") if name in value), value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
