"""What the format takes over from JavaScript: how it writes numbers, texts and paths, its blanks and its order."""

import json
import math
import re
from typing import Any

BLANKS = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
"""What `trim` takes off; Python's `strip` knows other ones."""

_LONE = re.compile("[\ud800-\udfff]")
_EXPONENT_FROM, _EXPONENT_BELOW = 21, -6


def trimmed(text: str) -> str:
    """The text without blanks at its ends."""
    return text.strip(BLANKS)


def order(text: str) -> bytes:
    """The key that sorts texts by their UTF-16 units: an emoji stands before U+FF5E."""
    return text.encode("utf-16-be", "surrogatepass")


def stringify(value: Any, indent: int = 0) -> str:
    """JSON as `JSON.stringify(value, null, indent)` writes it: keys in their order, only lone surrogates escaped."""
    return _stringify(value, indent, "\n" if indent else "")


def _stringify(value: Any, indent: int, line: str) -> str:
    if isinstance(value, dict):
        colon = ": " if indent else ":"
        items = [f"{_text(key)}{colon}{_stringify(item, indent, line + ' ' * indent)}" for key, item in value.items()]
        return _wrapped("{", items, "}", indent, line)
    if isinstance(value, list | tuple):
        return _wrapped("[", [_stringify(item, indent, line + " " * indent) for item in value], "]", indent, line)
    if isinstance(value, str):
        return _text(value)
    return number(value) if isinstance(value, float) else json.dumps(value)


def _wrapped(opening: str, items: list[str], closing: str, indent: int, line: str) -> str:
    if not items:
        return opening + closing
    inner = line + " " * indent
    return f"{opening}{inner}{f',{inner}'.join(items)}{line}{closing}"


def _text(text: str) -> str:
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def number(value: float) -> str:
    """A number's shortest text: 4 for 4.0, 0.00001 and not 1e-05, 1e+21 and not 1e21. Infinities and NaN are null."""
    if not math.isfinite(value):
        return "null"
    mantissa, _, exponent = f"{value!r}e0".partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    point = len(whole) + int(exponent.removesuffix("e0") or 0)
    digits = f"{whole}{fraction}".lstrip("0")
    point -= len(whole) + len(fraction) - len(digits)
    digits = digits.rstrip("0")
    return f"{'-' if value < 0 else ''}{_placed(digits, point)}"


def _placed(digits: str, point: int) -> str:
    """Digits with their decimal point behind `point` of them, or with an exponent."""
    if not digits:
        return "0"
    if _EXPONENT_BELOW < point <= 0:
        return f"0.{'0' * -point}{digits}"
    if 0 < point <= _EXPONENT_FROM:
        whole, fraction = digits[:point].ljust(point, "0"), digits[point:]
        return f"{whole}.{fraction}" if fraction else whole
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"


def joined(*parts: str) -> str:
    """Paths put together and normalised as `path.posix.join` does: a slash at the end stays, nothing is `.`."""
    path = "/".join(part for part in parts if part)
    kept: list[str] = []
    for part in path.split("/"):
        if part == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif part not in ("", ".") and not (part == ".." and path.startswith("/")):
            kept.append(part)
    start, end = ("/" if path.startswith("/") else ""), ("/" if path.endswith("/") else "")
    if not kept:
        return start or f".{end}"
    return f"{start}{'/'.join(kept)}{end}"
