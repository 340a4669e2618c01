"""The faults of the models file: what its schema says, and what no schema can."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from regrade import schemas
from regrade.errors import Fault

NOT_FOR_REQUEST = ("model", "messages", "input", "instructions", "tools", "stream", "stream_options", "n")
"""Keys of a request's body that Regrade itself writes; an entry's `request` may not hold them."""

_HAS_ADDRESS = ("ollama-generate", "ollama-chat")
"""Adapters whose server has a usual address."""


def faults(models: Any, source: str) -> list[Fault]:
    """Every fault of the models file `source`, whose parsed value is `models`."""
    found = schemas.faults("models", models, source)
    plain: dict[str, str] = {}
    for name, entry in models.items() if isinstance(models, Mapping) else ():
        same = plain.setdefault("".join(letter if letter.isalnum() else "_" for letter in str(name)), str(name))
        if same != name:
            told = f"differs from {same!r} only by signs, expected a name that differs in letters or digits"
            found.append(Fault(source, str(name), told))
        if isinstance(entry, Mapping):
            found += [Fault(source, f"{name}.{field}", message) for field, message in _beyond_the_schema(entry)]
    return found


def _beyond_the_schema(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    url = entry.get("base_url")
    if "runtime" in entry and url is not None:
        yield "base_url", "stands beside runtime, expected only one of the two"
    elif "runtime" not in entry and url is None and entry.get("adapter") not in _HAS_ADDRESS:
        yield "base_url", "is missing, expected the server's address such as http://127.0.0.1:8000/v1"
    elif url is not None and not _is_address(url):
        yield "base_url", f"is {url!r}, expected http://HOST[:PORT]/PATH or https://..."
    if "runtime" in entry and entry.get("adapter") in (*_HAS_ADDRESS, "openai-responses"):
        yield "adapter", f"is {entry['adapter']!r}, expected openai-chat, which is what a runtime speaks"
    for key in entry["request"] if isinstance(entry.get("request"), Mapping) else ():
        if key in NOT_FOR_REQUEST:
            yield f"request.{key}", "is written by Regrade, expected only parameters such as temperature"


def _is_address(url: Any) -> bool:
    try:
        parts = urlsplit(str(url))
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
