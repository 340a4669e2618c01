"""Whether a text is an absolute URL as browsers and Node read one (the WHATWG URL standard)."""

import ipaddress
import re
import unicodedata
from collections.abc import Callable
from urllib.parse import unquote

_SPECIAL = {"http", "https", "ws", "wss", "ftp", "file"}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
_CONTROLS = "".join(chr(code) for code in range(0x21))
_FORBIDDEN = set("\0\t\n\r #/:<>?@[\\]^|")
_FORBIDDEN_IN_DOMAIN = _FORBIDDEN | {chr(code) for code in range(0x20)} | {"%", "\x7f"}
_NO_LETTERS = re.compile("[\u0080-\u00a0\u2000-\u200f\u2028-\u202f\ue000-\uf8ff\ufff0-\uffff]")
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]*|[0-9]+")
_LAST_PORT = 65535


def is_url(text: str) -> bool:
    """Whether it stands by itself as a URL: `mailto:x`, `http:host` and `c:/x` do, `//host` and `https://` do not."""
    text = re.sub(r"[\t\n\r]", "", text.strip(_CONTROLS))
    found = _SCHEME.fullmatch(text)
    if not found:
        return False
    scheme, rest = found[1].lower(), found[2]
    if scheme == "file":
        return _is_file(rest)
    if scheme in _SPECIAL:
        authority = re.split(r"[/\\?#]", rest.lstrip("/\\"), maxsplit=1)[0]
        return _is_authority(authority, _is_host)
    if not rest.startswith("//"):
        return True
    authority = re.split(r"[/?#]", rest[2:], maxsplit=1)[0]
    return not authority or _is_authority(authority, _is_opaque_host)


def _is_file(rest: str) -> bool:
    """What follows `file:`; its host may be missing, and has neither a user nor a port."""
    slashes = rest.replace("\\", "/")
    if not slashes.startswith("//"):
        return True
    host = re.split(r"[/?#]", slashes[2:], maxsplit=1)[0]
    return not host or bool(re.fullmatch(r"[A-Za-z][:|]", host)) or _is_host(host)


def _is_authority(authority: str, is_host: Callable[[str], bool]) -> bool:
    host = authority.rpartition("@")[2]
    name, port = host, ""
    if found := re.fullmatch(r"(.*):([^\]:]*)", host, re.DOTALL):
        name, port = found[1], found[2]
    if port and not (re.fullmatch(r"[0-9]+", port) and int(port[-400:]) <= _LAST_PORT):
        return False
    return bool(name) and is_host(name)


def _is_opaque_host(host: str) -> bool:
    """The host of a scheme that the standard does not know."""
    return _is_bracketed(host) if host.startswith("[") else not _FORBIDDEN.intersection(host)


def _is_host(host: str) -> bool:
    """A domain or an address."""
    if host.startswith("["):
        return _is_bracketed(host)
    domain = unicodedata.normalize("NFKC", unquote(host, errors="replace")).lower()
    domain = re.sub("[\u3002\uff0e\uff61]", ".", domain).replace("\u00ad", "").replace("\u200b", "")
    if not domain or _FORBIDDEN_IN_DOMAIN.intersection(domain) or _NO_LETTERS.search(domain):
        return False
    labels = domain.removesuffix(".").split(".")
    ends_in_number = bool(re.fullmatch(r"[0-9]+|0[xX][0-9A-Fa-f]*", labels[-1]))
    return not ends_in_number or _is_address(labels)


def _is_bracketed(host: str) -> bool:
    if not host.endswith("]") or "%" in host:
        return False
    try:
        ipaddress.IPv6Address(host[1:-1])
    except ValueError:
        return False
    return True


def _is_address(labels: list[str]) -> bool:
    """Whether up to four numbers (also octal and hexadecimal) are an IPv4 address."""
    if len(labels) > 4 or not all(_NUMBER.fullmatch(label) for label in labels):
        return False
    try:
        numbers = [_value(label) for label in labels]
    except ValueError:
        return False
    return all(value <= 255 for value in numbers[:-1]) and numbers[-1] < 256 ** (5 - len(numbers))


def _value(label: str) -> int:
    if label[:2] in ("0x", "0X"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if len(label) > 1 and label.startswith("0") else int(label)
