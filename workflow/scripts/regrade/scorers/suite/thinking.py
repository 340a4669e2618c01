"""Taking a model's thoughts off its answer, where they stand between tags."""

import re

_TOKEN = re.compile(
    r"^[ \t]*(?P<fence>(?:`{3,}(?=[^`\n]*$)|~{3,})[^\n]*)$"
    r"|(?P<opening>(?:(?<!`)<think(?:ing)?>|<think(?:ing)?>(?!`)))"
    r"|(?P<closing>(?:(?<!`)</think(?:ing)?>|</think(?:ing)?>(?!`)))"
    r"|(?P<bracket>\[THINKING\])",
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(r"(?<!`)<(?P<end>/?)think(?:ing)?>|<(?P<close>/?)think(?:ing)?>(?!`)", re.IGNORECASE)
_BRACKET_END = re.compile(r"\[/THINKING\]", re.IGNORECASE)
_ODD_OPENING = re.compile(r"<think(?:ing)?\s[^<>]{0,200}>", re.IGNORECASE)


def split_thinking(text: str) -> tuple[str, str]:
    """The visible text, trimmed, and the thoughts.

    Tags are <think> and <thinking>, each closed by either, and [THINKING], in any case. An opening angle tag without
    an end is all thought from there; a bracket one without an end is text. Inside a code fence, or between backticks, a
    tag is text. A closing tag before any opening one ends thoughts that the model's template began.
    """
    visible: list[str] = []
    thoughts: list[str] = []
    position, fence = 0, ""
    odd = _ODD_OPENING.search(text)
    last_end = max((end.start() for end in _BRACKET_END.finditer(text)), default=-1)
    while token := _TOKEN.search(text, position):
        kind, before = token.lastgroup, text[position : token.start()]
        position = token.end()
        if kind == "fence":
            fence = _fence_behind(token["fence"].strip(), fence)
        elif fence:
            pass
        elif kind == "closing" and not thoughts and not (odd and odd.start() < token.start()):
            thoughts.append("".join(visible) + before)
            visible = []
            continue
        elif kind == "opening" or (kind == "bracket" and position <= last_end):
            end, behind = _end_of_thought(text, position, kind)
            visible.append(before)
            thoughts.append(text[position:end])
            position = behind
            continue
        visible += [before, token[0]]
    visible.append(text[position:])
    return "".join(visible).strip(), "\n".join(thought.strip() for thought in thoughts if thought.strip())


def _fence_behind(line: str, fence: str) -> str:
    """The fence that is open behind a line that is one; "" if it closes the open one."""
    marks = line[: len(line) - len(line.lstrip(line[0]))]
    if not fence:
        return marks
    return "" if line == marks and line.startswith(fence) else fence


def _end_of_thought(text: str, start: int, kind: str) -> tuple[int, int]:
    """Where a thought ends, and where its closing tag does. One that is opened again inside ends with the outer one.

    Where tags do not pair, it ends with the first closing ones: what stands before a later thought is no thought.
    """
    if kind == "bracket":
        return _BRACKET_END.search(text, start).span()  # type: ignore[union-attr]
    depth, first, is_open = 1, (len(text), len(text)), True
    for tag in _TAG.finditer(text, start):
        closes = bool(tag["end"] or tag["close"])
        depth += -1 if closes else 1
        if depth == 0:
            return tag.span()
        if closes and is_open:
            first = tag.span()
        elif not closes and first[0] < len(text):
            is_open = False
    return first
