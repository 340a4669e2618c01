"""Texts in the form in which they are compared: no case, no accents on Latin letters, one kind of quotes and dashes."""

import re
import unicodedata
from typing import Any

_SIGNS = str.maketrans({
    "‘": "'", "’": "'", "‚": "'", "′": "'", "“": '"', "”": '"', "„": '"', "⁄": "/", "−": "-",
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-",
    "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d",
})  # fmt: skip
"""What has no decomposition; letters are looked for in lower case."""

_INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]")
_UNMARKED = re.compile("LATIN|GREEK|CYRILLIC SMALL LETTER IE$")
"""Letters whose marks do not count; Greek loses them in capitals, and ё is written е by many."""


def text_of(value: Any) -> str:
    """An expected value as text; numbers as they were written, true and false in lower case, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def visible(text: str) -> str:
    """A text without signs that nobody sees, composed, so that equal-looking texts are equal."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text))


def folded(text: str) -> str:
    """A text for comparison whatever its case and the accents on its Latin letters; other scripts keep their marks."""
    if text.isascii():
        return text.lower()
    # Some signs, such as bold letters, have a case only once they are decomposed.
    plain = unicodedata.normalize("NFKD", _INVISIBLE.sub("", text)).casefold()
    return unicodedata.normalize("NFC", _without_marks(unicodedata.normalize("NFKD", plain)).translate(_SIGNS))


def _without_marks(text: str) -> str:
    pieces: list[str] = []
    counts = True
    for sign in text:
        if unicodedata.category(sign) != "Mn":
            counts = not (sign.isascii() or _UNMARKED.match(unicodedata.name(sign, "")))
        elif not counts:
            continue
        pieces.append(sign)
    return "".join(pieces)


def expected(scoring: dict[str, Any]) -> Any:
    """The expected value: `answer` where there is one, else `value`; None for neither."""
    return scoring["answer"] if "answer" in scoring else scoring.get("value")


def shown(text: str, most: int = 80) -> str:
    """A text with its blanks visible, in one bounded line."""
    return repr(text if len(text) <= most else f"{text[:most]}...")
