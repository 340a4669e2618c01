"""Ollama's own protocol: one prompt, whole answers, and the server's own timings in nanoseconds."""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from regrade.models import message
from regrade.models.adapters import Question, Reading, replies
from regrade.models.adapters.post import Reply
from regrade.models.types import Usage

DEFAULT_ADDRESS = "http://localhost:11434"
_PATH = "/api/generate"
_OPTIONS = {"max_tokens": "num_predict"}
_TIMINGS = (
    "total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration",
)  # fmt: skip


def address(base_url: str) -> str:
    """The base address with /api/generate behind its path, unless it stands there."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    path = path if path.endswith(_PATH) else path + _PATH
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def build_body(question: Question) -> dict[str, Any]:
    """The body of a request, never streamed."""
    body: dict[str, Any] = {"model": question.model, "prompt": question.prompt, "stream": False}
    options = {_OPTIONS.get(name, name): value for name, value in question.sent().items()}
    return {**body, "options": options} if options else body


def read(reply: Reply, _: Question) -> Reading:
    """The answer with the server's counts and rates."""
    if (failed := replies.failed(reply)) is not None:
        return failed
    value = replies.answer_object(reply)
    if value is None:
        return replies.refused(reply)
    counts = {name: value[name] for name in _TIMINGS if replies.count(value.get(name)) is not None}
    prompt, output = counts.get("prompt_eval_count"), counts.get("eval_count")
    return Reading(
        raw=value,
        text=_text(value.get("response")),
        reasoning=_text(value.get("thinking")),
        finish_reason=message.text_or_none(value.get("done_reason")),
        usage=Usage(prompt, output),
        prefill_tps=replies.rate(prompt, counts.get("prompt_eval_duration", 0) / 1e9),
        decode_tps=replies.rate(output, counts.get("eval_duration", 0) / 1e9),
        backend=counts,
    )


def _text(value: Any) -> str:
    return message.mend(value) if isinstance(value, str) else ""
