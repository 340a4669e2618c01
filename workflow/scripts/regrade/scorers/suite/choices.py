"""Options that a response names: one letter or number, or several, in whatever brackets and emphasis."""

import re
import unicodedata
from typing import Any

_LATIN = r"A-Za-z0-9_\u00c0-\u024f"
_NAME = rf"(?P<open>\(\s?)?(?P<name>[A-Za-z]|\d{{1,3}})(?![{_LATIN}]|[.,]\d)(?P<close>\s?\))?"
_OPTION = re.compile(_NAME)
_AND = re.compile(r"\s?(?:,\s?(?:and\s)?|[;/&+]\s?|\band\s)", re.IGNORECASE)
_OR = re.compile(r"\s?,?\s?\bor\s", re.IGNORECASE)
_END = re.compile(r"[\s.,:;!)]*(?:\Z|\n|[.!;]\s|(?:are|is\scorrect|because|since)\b)", re.IGNORECASE)
_SAID = (
    r"(?:answers?|r[e\u00e9]ponse|respuesta|resposta|risposta|antwort|antwoord|\u043e\u0442\u0432\u0435\u0442"
    r"|\u0432\u0456\u0434\u043f\u043e\u0432\u0456\u0434\u044c)\b|\u7b54\u6848|\u56de\u7b54|\u7b54\u3048|\uc815\ub2f5"
    r"|\u0627\u0644\u0625\u062c\u0627\u0628\u0629|\u0627\u0644\u062c\u0648\u0627\u0628|\u0909\u0924\u094d\u0924\u0930"
)
_IS = r"(?:\s{0,3}(?:[:=\u2192-]>?|(?:is|are|est|es|\u00e9|\u00e8|ist)\b|\u662f|\u306f|\uc740|\ub294|\u4e3a)){0,3}"
_ANSWER = re.compile(
    rf"(?:(?:{_SAID}){_IS}|^####)\s{{0,3}}(?:(?:options?|choices?|letter|both|the)\b\s{{1,3}}){{0,2}}",
    re.IGNORECASE | re.MULTILINE,
)
_CHOSEN = re.compile(
    rf"\b(?:(?:option|choice)\b{_IS}|(?:choose|pick|select|chose)\b\s(?:(?:option|choice)\b\s)?)\s{{0,3}}",
    re.IGNORECASE,
)
_CORRECT = re.compile(
    r"(?<!\w)([A-Za-z]|\d{1,3})\)?\s(?:is|are)\s(?:the\s)?(?:only\s)?(?:correct|right|best|true)\b", re.IGNORECASE
)
_BULLET = re.compile(r"[-\u2022>]?\s{0,3}")
_OPENING = re.compile(r"[-\u2022>]?\s{0,3}\(?([A-Z])(?:[).:]|\s[-\u2013\u2014])\s")
_WORD = re.compile(r"\s(?P<word>[a-z']+|[A-Z]?)")
_AFTER_NAME = ("because", "since", "as", "is", "and", "or", "with", "due", "which", "for", "but", "from")
_COMMAND = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)(?![a-z])|</?(?:b|i|strong|em|code|p|span)>", re.IGNORECASE)
_DECORATION = re.compile(r"[*`$\"'\u2018\u2019\u201c\u201d\u00ab\u00bb\[\]{}\\]|(?<![^\W_])_+|_+(?![^\W_])")


def named(response: str) -> list[str]:
    """The options, in upper case and sorted, that a response gives as its answer; none where that is not clear.

    What stands behind the last `answer:` or in a box counts, then before the last `is correct`. Without them it must be
    the only one that is alone on a line, or behind `option`, or at the beginning of a line.
    """
    plain = _plain(response)
    for marker in reversed(list(_ANSWER.finditer(plain))):
        options = _options(plain, marker.end())
        if options is not None:
            return options
    if correct := _CORRECT.findall(plain):
        return [correct[-1].upper()]
    lines = [line for line in plain.splitlines() if line.strip()]
    mentioned = [_options(plain, found.end()) for found in _CHOSEN.finditer(plain)]
    openings = [found[1] for line in lines if (found := _OPENING.match(line))]
    for ways in ([_alone(line) for line in lines], mentioned, [[name] for name in openings]):
        different = {tuple(options) for options in ways if options}
        if len(different) == 1:
            return list(different.pop())
    return []


def listed(value: Any) -> list[str]:
    """An expected option, or several with commas, blanks or slashes between, in upper case and sorted."""
    names = value if isinstance(value, list) else re.split(r"[\s,;/&+]+|\band\b", str(value))
    return sorted({str(name).strip("().").upper() for name in names} - {""})


def _plain(response: str) -> str:
    """A response without what only decorates; a box is an answer."""
    text = unicodedata.normalize("NFKC", response)
    text = re.sub(r"\\(?:boxed|fbox)\s?\{", " answer: ", text)
    return _DECORATION.sub("", _COMMAND.sub("", text))


def _options(text: str, start: int) -> list[str] | None:
    """The options that begin at a place, none where one or another is meant; None if no option stands there."""
    found = _OPTION.match(text, start)
    if not found or _is_word(text, found):
        return None
    first, names = found, {found["name"].upper()}
    end = found.end()
    while (link := _AND.match(text, end)) and (following := _OPTION.match(text, link.end())):
        if _is_word(text, following):
            break
        names.add(following["name"].upper())
        end = following.end()
    if (link := _OR.match(text, end)) and (other := _OPTION.match(text, link.end())) and not _is_word(text, other):
        return []
    return sorted(names) if _END.match(text, end) else [first["name"].upper()]


def _is_word(text: str, found: re.Match[str]) -> bool:
    """Whether what looks like an option is the word `a` or `I`."""
    if found["open"] or found["close"] or found["name"].upper() not in ("A", "I"):
        return False
    behind = _WORD.match(text, found.end())
    if not behind or not behind["word"]:
        return False
    return found["name"] == "a" or (behind["word"].islower() and behind["word"] not in _AFTER_NAME)


def _alone(line: str) -> list[str]:
    """The options that a line consists of."""
    start = _BULLET.match(line)
    options = _options(line, start.end()) if start else None
    rest = re.sub(r"\band\b", " ", line, flags=re.IGNORECASE)
    words = re.findall(r"[^\W_]+", rest)
    return options if options and sorted({word.upper() for word in words}) == options else []
