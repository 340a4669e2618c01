"""Texts in the form in which they are compared: no case, no accents on Latin letters, one kind of quotes."""

import re
import unicodedata
from typing import Any

_SIGNS = str.maketrans({
    "‘": "'", "’": "'", "‚": "'", "′": "'", "“": '"', "”": '"', "„": '"', "‐": "-", "‑": "-", "⁄": "/",
})  # fmt: skip
_INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u00ad]")


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
    pieces: list[str] = []
    latin = False
    for sign in unicodedata.normalize("NFKD", _INVISIBLE.sub("", text).translate(_SIGNS).casefold()):
        if unicodedata.category(sign) == "Mn":
            if not latin:
                pieces.append(sign)
            continue
        latin = sign.isascii() or "LATIN" in unicodedata.name(sign, "")
        pieces.append(sign)
    return unicodedata.normalize("NFC", "".join(pieces).translate(_SIGNS))


def expected(scoring: dict[str, Any]) -> Any:
    """The expected value: `answer` where there is one, else `value`; None for neither."""
    return scoring["answer"] if "answer" in scoring else scoring.get("value")


def shown(text: str, most: int = 80) -> str:
    """A text with its blanks visible, in one bounded line."""
    return repr(text if len(text) <= most else f"{text[:most]}...")
