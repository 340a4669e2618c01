"""Keeping keys out of everything that is stored, raised or shown."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

MARK = "[redacted]"
SHORTEST = 8
"""A shorter key is a placeholder such as "EMPTY"; taking that word out of answers and files would damage them."""

_NAMES = re.compile(r"key|token|secret|sig|password|auth|credential", re.IGNORECASE)
_SHAPES = re.compile(r"(?i)\bbearer\s+[\w.~+/=-]{8,}|\bsk-[\w-]{8,}|(?<=api[-_]key=)[^&\s\"']+")


def clean_url(url: str) -> str:
    """The address without a user's name and password and without the values of queries that look like keys."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    query = "&".join(
        f"{name}={MARK if _NAMES.search(name) else value}"
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    )
    return urlunsplit((parts.scheme, host, parts.path, query, ""))


class Secrets:
    """The keys that one model's calls carry."""

    def __init__(self, api_key: str | None, url: str) -> None:
        parts = urlsplit(url)
        values = [value for name, value in parse_qsl(parts.query) if _NAMES.search(name)]
        values += [api_key or "", unquote(parts.password or "")]
        keys = {value for value in values if len(value) >= SHORTEST}
        forms = {form for key in keys for form in (key, quote(key, safe=""), json.dumps(key)[1:-1])}
        self._forms = sorted(forms, key=len, reverse=True)

    @property
    def any(self) -> bool:
        """Whether there is a key at all."""
        return bool(self._forms)

    def redact(self, text: str) -> str:
        """The text without any of the keys."""
        for form in self._forms:
            text = text.replace(form, MARK)
        return text

    def redact_value(self, value: Any) -> Any:
        """The same for a JSON value, tuples included."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            return [self.redact_value(item) for item in value]
        if isinstance(value, tuple):
            return tuple(self.redact_value(item) for item in value)
        if isinstance(value, dict):
            return {self.redact(key): self.redact_value(item) for key, item in value.items()}
        return value

    def excerpt(self, body: bytes | str, length: int = 500) -> str:
        """The beginning of a body for a message: one line, no key, nothing that has the shape of one."""
        text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
        text = " ".join(_SHAPES.sub(MARK, self.redact(text[: 4 * length])).split())
        return text if len(text) <= length else text[: length - 4] + " ..."
