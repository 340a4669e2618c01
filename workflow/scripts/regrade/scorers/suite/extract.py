"""How the answer is found in a response, where the task says it (`extract:`)."""

import json
import re

_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_WRAPPED = re.compile(r"^\\(?:text|mathrm|mathbf|textbf|mbox)\s*\{(.*)\}$", re.DOTALL)
_MARKED = r"(?:final\s)?(?:answer|choice|option)\b\s{0,3}(?:(?:is|:|=)\s{0,3}){0,3}"
_DECORATED = r"[\s*_`$(\[{\"']{0,12}(?:\\boxed\s?\{)?(?:\\text\s?\{)?[*_`$(\[{\"']{0,12}"
_LETTER = r"([A-Za-z]|\d{1,3})(?![\w])"


def text(response: str, how: str | None) -> str | None:
    """The part of a response that is its answer; the whole without `how`, None where there is none.

    first, last     the first or last line that is not blank, without an `Answer:` before it
    unique          that line, if there is but one
    boxed           what the last whole \\boxed{} holds
    choice          the option's letter or number
    json            a JSON text value, or what stands under `answer`, `value` or `result` of a JSON object
    """
    if how is None or how == "closest":
        return response
    if how == "boxed":
        return boxed(response)
    if how == "choice":
        return choice(response)
    if how == "json":
        return from_json(response)
    lines = [line.strip() for line in response.splitlines() if line.strip()]
    if not lines or (how == "unique" and len(lines) > 1):
        return None
    return re.sub(rf"^{_MARKED}", "", lines[-1 if how == "last" else 0], flags=re.IGNORECASE).strip()


def boxed(response: str) -> str | None:
    """What the last \\boxed{} holds, braces inside it matched, without a \\text{} around all; None if it is cut off."""
    found = list(_BOXED.finditer(response))
    if not found:
        return None
    depth, start = 1, found[-1].end()
    for place in range(start, len(response)):
        depth += {"{": 1, "}": -1}.get(response[place], 0)
        if depth == 0:
            inside = response[start:place].strip()
            wrapped = _WRAPPED.match(inside)
            return wrapped[1].strip() if wrapped else inside
    return None


def choice(response: str) -> str | None:
    """The option that a response names: behind the last `answer:` that names one, else in a box, else alone.

    In whatever brackets and emphasis: **B**, (b), $B$, \\boxed{\\text{B}}. Two different ones standing alone are none.
    """
    marked = re.findall(rf"{_MARKED}{_DECORATED}{_LETTER}", response, re.IGNORECASE)
    if marked:
        return str(marked[-1])
    inside = boxed(response)
    if inside and re.fullmatch(_LETTER, inside):
        return inside
    lines = [line for line in response.splitlines() if line.strip()]
    alone = {
        found[1].upper()
        for line in lines
        if (found := re.fullmatch(rf"{_DECORATED}{_LETTER}[\s*_`$)\]}}.:\"']{{0,12}}", line))
    }
    if not alone and lines:
        opening = re.match(rf"{_DECORATED}([A-Z])[)\].:*]", lines[0])
        alone = {opening[1]} if opening else set()
    return alone.pop() if len(alone) == 1 else None


def from_json(response: str) -> str | None:
    """The text of the first JSON value in a response that is one, or names one."""
    decoder = json.JSONDecoder()
    for place in [0, *(found.start() for found in re.finditer(r"[{\[\"]", response))][:200]:
        try:
            value, _ = decoder.raw_decode(response, place)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            value = next((value[name] for name in ("answer", "value", "result") if name in value), None)
        if isinstance(value, str | int | float):
            return value if isinstance(value, str) else json.dumps(value)
    return None
