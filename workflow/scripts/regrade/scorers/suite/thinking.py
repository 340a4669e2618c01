"""Taking a model's thoughts off its answer, where they stand between tags."""

import re

_TOKEN = re.compile(r"^[ \t]*(?:```+|~~~+)[^\n]*$|</?think(?:ing)?>|\[/?THINKING\]", re.IGNORECASE | re.MULTILINE)


def split_thinking(text: str) -> tuple[str, str]:
    """The visible text, trimmed, and the thoughts.

    Tags are <think> and <thinking>, each closed by either, and [THINKING], in any case. An opening angle tag without
    an end is all thought from there; a bracket one without an end is text. Inside a code fence a tag is text. A
    closing tag before any opening one ends thoughts that the model's template began.
    """
    lowered = text.lower()
    first_opening, last_closing = lowered.find("<think"), lowered.rfind("[/thinking]")
    pieces, thoughts, position, fence = [], [], 0, ""
    while found := _TOKEN.search(text, position):
        token = found[0].strip().lower()
        if token.startswith(("```", "~~~")):
            fence = "" if fence and token.startswith(fence) else fence or re.match(r"[`~]+", token)[0]  # type: ignore[index]
        elif not fence and token in ("<think>", "<thinking>", "[thinking]"):
            end = None if token[0] == "[" and found.end() > last_closing else _closing(text, found.end(), token)
            if end is None and token.startswith("["):
                pieces.append(text[position : found.end()])
                position = found.end()
                continue
            pieces.append(text[position : found.start()])
            thoughts.append(text[found.end() : end.start() if end else len(text)])
            position = end.end() if end else len(text)
            continue
        elif not fence and token.startswith("</") and not thoughts and not 0 <= first_opening < found.start():
            thoughts.append("".join(pieces) + text[position : found.start()])
            pieces, position = [], found.end()
            continue
        pieces.append(text[position : found.end()])
        position = found.end()
    pieces.append(text[position:])
    return "".join(pieces).strip(), "\n".join(thought.strip() for thought in thoughts if thought.strip())


def _closing(text: str, start: int, opening: str) -> re.Match[str] | None:
    """The tag that ends what began before `start`; one that was opened again in between ends first."""
    if opening == "[thinking]":
        return re.compile(r"\[/THINKING\]", re.IGNORECASE).search(text, start)
    depth = 1
    last = None
    for tag in re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE).finditer(text, start):
        depth += -1 if tag[1] else 1
        last = tag if tag[1] else last
        if depth == 0:
            return tag
    return last
