"""What the adapters share in reading replies."""

import json
import math
from typing import Any

from regrade.models.adapters import Reading
from regrade.models.adapters.post import Reply

LONGEST_ERROR = 200
NOT_JSON = object()


def text_of(reply: Reply) -> str:
    """The body as text; bytes that are no UTF-8 are shown as U+FFFD."""
    return reply.body.decode("utf-8", "replace")


def parse(text: str) -> Any:
    """A JSON value, or NOT_JSON. Numbers that JSON cannot hold (NaN, 1e999) become the texts they were."""
    try:
        return json.loads(text, parse_constant=str, parse_float=_number)
    except (ValueError, RecursionError):
        return NOT_JSON


def _number(text: str) -> Any:
    value = float(text)
    return value if math.isfinite(value) else text


def answer_object(reply: Reply) -> dict[str, Any] | None:
    """The JSON object of a whole reply; None for any other body, and for one in which the server reports an error."""
    value = parse(text_of(reply))
    return value if isinstance(value, dict) and not value.get("error") else None


def failed(reply: Reply) -> Reading | None:
    """The reading of a call that was cut or that the server refused; None if there is a whole answer to read."""
    if reply.failure is not None:
        return Reading({"error": str(reply.failure)}, broken(reply.failure))
    return None if succeeded(reply) else refused(reply)


def succeeded(reply: Reply) -> bool:
    """Whether the server's status says that an answer follows."""
    return reply.status is not None and 200 <= reply.status < 300


def broken(failure: Exception) -> str:
    """The error of a call that was cut."""
    return f"transport error: {failure!r}"


def refused(reply: Reply) -> Reading:
    """The reading of a reply that is no answer, whatever its status. Raw is the server's JSON, or its text."""
    text = text_of(reply)
    value = parse(text)
    raw = {"text": text} if value is NOT_JSON else value
    return Reading(raw, f"HTTP {reply.status}: {text[:LONGEST_ERROR]}")


def count(value: Any) -> int | None:
    """A number of tokens or nanoseconds as the server counted; None for anything that is no count."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def rate(tokens: int | None, seconds: float | None) -> float | None:
    """Tokens per second to four decimals; None without tokens or time."""
    return round(tokens / seconds, 4) if tokens and seconds and seconds > 0 else None
