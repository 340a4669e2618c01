"""File names as the headers of a unified diff write them."""

import re

from regrade.patches import RefusedError

NOWHERE = "/dev/null"
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_LETTERS = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


def name_in(text: str) -> str:
    """The name behind `--- ` and the like: unquoted, or up to a tab. Raises RefusedError for a malformed one."""
    if text.startswith('"'):
        return _unquote(text)[0]
    return text.partition("\t")[0].rstrip("\r\n")


def git_names(text: str) -> tuple[str, ...]:
    """The two names behind `diff --git `; where blanks leave a choice, the two that are alike but for their prefix."""
    text = text.rstrip("\r\n")
    if text.startswith('"'):
        first, rest = _unquote(text)
        return first, name_in(rest.lstrip(" "))
    if text.endswith('"') and ' "' in text:
        first, _, rest = text.partition(' "')
        return first, _unquote(f'"{rest}')[0]
    splits = [(text[: blank.start()], text[blank.end() :]) for blank in re.finditer(" ", text)]
    for first, second in splits:
        if first == second or first.partition("/")[2] == second.partition("/")[2] != "":
            return first, second
    prefixed = [split for split in splits if split[1].startswith("b/")]
    return next(iter(prefixed or splits), (text,))


def shown(name: str) -> str:
    """A name fit for a one-line message."""
    return name if name.isprintable() else ascii(name)[1:-1]


def _unquote(text: str) -> tuple[str, str]:
    """The name in a C-quoted string, and what follows it."""
    quoted = _QUOTED.match(text)
    if quoted is None:
        raise RefusedError("malformed quoted path")
    try:
        name = _ESCAPE.sub(_plain, quoted[1].encode("utf-8", "surrogateescape"))
    except (KeyError, UnicodeEncodeError):
        raise RefusedError("malformed quoted path") from None
    return name.decode("utf-8", "surrogateescape"), text[quoted.end() :]


def _plain(escape: "re.Match[bytes]") -> bytes:
    code = escape[1]
    return bytes([int(code, 8) if len(code) == 3 else _LETTERS[code[0]]])
