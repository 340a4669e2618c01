"""Calls as functions, name(argument, ...), with or without name spaces before the name."""

import re
from collections.abc import Iterator

from regrade.harnesses.loop import arguments
from regrade.harnesses.loop.arguments import Unclosed
from regrade.harnesses.loop.found import Broken, Finding, Found
from regrade.harnesses.loop.tools import TOOLS

_OPENING = re.compile(rf"(?<!\w)({'|'.join(TOOLS)})\s{{0,3}}\(")
_NAME_SPACE = re.compile(r"[\w.]{0,200}\Z")
_SENTENCE_END = re.compile(r"[.!?;:]\s+")
_BEFORE = re.compile(
    r"""(?:[\s`*>\-#|'"(]|\d{1,3}[.)]|<\|?/?\w{1,30}\|?>|\b(?:action|call|tool|next)\b:?)*""", re.IGNORECASE
)
_MENTION = re.compile(
    r"\b(?:not|never|cannot|without|before|until|unless|instead|avoid|already|earlier|previous(?:ly)?|if|once|after"
    rf"|when|def|like|such as|{'|'.join(TOOLS)})\b|n['’]t\b|\be\.g\.|\bi\.e\.",
    re.IGNORECASE,
)
_LINE_SHOWN = 400
_MOST = 50


def calls(text: str) -> Iterator[Finding]:
    """Calls of known tools in their order, those inside another's arguments left out.

    One that stands at the beginning of a line or sentence counts; if it cannot be read, it ends the search. One further
    on in a sentence counts too (`stands` is False) if nothing before it speaks against that, and it has arguments with
    names or quotes or is the last thing that is said; a final call only if it is that.
    """
    position = 0
    for _ in range(_MOST):
        opening = _OPENING.search(text, position)
        if not opening:
            return
        position = opening.end()
        tool, sentence = opening[1], _sentence_before(text, opening.start())
        stands = _BEFORE.fullmatch(sentence) is not None
        try:
            args, end = arguments.read(text, position, ")", tuple(TOOLS[tool].parameters))
        except ValueError as error:
            if stands and (isinstance(error, Unclosed) or text[position:].isspace()):
                yield Broken(opening.start(), f"the call of {tool} cannot be read: {error}")
                return
            continue
        if args and all(name == value for name, value in args.items()):
            continue  # a signature, as in a list of the tools
        if stands or _is_meant(tool, sentence, text[position:end], text[end : end + _LINE_SHOWN]):
            yield Found(tool, args, opening.start(), end, stands)
            position = end


def _sentence_before(text: str, start: int) -> str:
    """What stands before a call in its line and sentence, name spaces aside."""
    begin = max(text.rfind("\n", 0, start) + 1, start - _LINE_SHOWN)
    line = text[begin:start]
    line = line[: _NAME_SPACE.search(line).start()] if line.endswith(".") else line  # type: ignore[union-attr]
    ends = list(_SENTENCE_END.finditer(line))
    if ends and not line[: ends[-1].end()].rstrip().lower().endswith(("e.g.", "i.e.")):
        return line[ends[-1].end() :]
    return line


def _is_meant(tool: str, sentence: str, arguments_said: str, behind: str) -> bool:
    if _MENTION.search(sentence):
        return False
    is_last = not behind.strip(" \t\n.!`*")
    return is_last or (tool != "final" and any(sign in arguments_said for sign in "\"'="))
