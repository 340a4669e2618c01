"""Chat completions, measured: the whole answer, or an event stream with the time of its first words."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from regrade.models import message
from regrade.models.adapters import Question, Reading, replies
from regrade.models.adapters.post import Reply
from regrade.models.sse import EventReader, parts
from regrade.models.types import Usage

DEFAULT_ADDRESS = ""
_PATH = "/chat/completions"


def address(base_url: str) -> str:
    """The base address with what its path lacks of /v1/chat/completions."""
    split = urlsplit(base_url)
    path = split.path.rstrip("/")
    if not path.endswith(_PATH):
        path += _PATH if path.endswith("/v1") else f"/v1{_PATH}"
    return urlunsplit((split.scheme, split.netloc, path, split.query, ""))


def build_body(question: Question) -> dict[str, Any]:
    """The body of a request: one message of the user."""
    body: dict[str, Any] = {
        "model": question.model,
        "messages": [{"role": "user", "content": question.prompt}],
        "stream": question.streams,
    }
    if question.streams and question.stream_usage == "include":
        body["stream_options"] = {"include_usage": True}
    return {**body, **question.sent()}


def read(reply: Reply, question: Question) -> Reading:
    """The answer. A server that was asked for a stream and sends a whole body is read as one that was not."""
    streamed = question.streams and replies.succeeded(reply) and "json" not in reply.content_type
    if streamed and "html" not in reply.content_type:
        return _Stream(question.model).read(reply)
    if (failed := replies.failed(reply)) is not None:
        return failed
    value = replies.answer_object(reply)
    return replies.refused(reply) if value is None else _whole(value)


def _whole(value: dict[str, Any]) -> Reading:
    choice = message.first_choice(value) or {}
    content = choice.get("message")
    content = content if isinstance(content, Mapping) else {}
    text, thought = message.split_content(content.get("content"))
    return Reading(
        raw=value,
        text=message.mend(text),
        reasoning=message.mend(message.reasoning_of(content) or thought),
        refusal=message.refusal_of(content),
        finish_reason=message.text_or_none(choice.get("finish_reason")),
        flaw="" if choice else "the reply has no choice, expected one in `choices`",
        usage=_usage(value.get("usage")),
    )


def _usage(usage: Any) -> Usage:
    """Token counts as the server gave them, never estimated and never added up."""
    usage = usage if isinstance(usage, Mapping) else {}
    details = usage.get("prompt_tokens_details")
    return Usage(
        prompt=replies.count(usage.get("prompt_tokens")),
        output=replies.count(usage.get("completion_tokens")),
        cached_prompt=replies.count(details.get("cached_tokens")) if isinstance(details, Mapping) else None,
    )


class _Stream:
    """Puts an event stream together, with the time at which each piece came."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._refusals: list[str] = []
        self._chunks: list[dict[str, Any]] = []
        self._usage: Any = None
        self._finish_reason: str | None = None
        self._ttft_s: float | None = None
        self._answered = False
        self._ended = False
        self._failure: dict[str, Any] = {}

    def read(self, reply: Reply) -> Reading:
        """The whole stream; of one that broke only the raw pieces and the time of its first words stay."""
        events = EventReader()
        for seconds, piece in reply.pieces:
            self._take(events.feed(piece), seconds)
        self._take(events.finish(), reply.wall_s)
        if reply.failure is not None and not self._failure:
            self._failure = {"error": replies.broken(reply.failure)}
        if self._failure:
            return Reading(self._raw(), str(self._failure["error"]), ttft_s=self._ttft_s)
        usage = _usage(self._usage)
        decode_s = None if self._ttft_s is None else reply.wall_s - self._ttft_s
        return Reading(
            raw=self._raw(),
            text=message.mend("".join(self._texts)),
            reasoning=message.mend("".join(self._thoughts)),
            refusal="".join(self._refusals) or None,
            finish_reason=self._finish_reason,
            ttft_s=self._ttft_s,
            prefill_tps=replies.rate(usage.prompt, self._ttft_s),
            decode_tps=replies.rate(usage.output, decode_s),
            flaw="" if self._answered else "the stream brought no choice, expected one in `choices`",
            warnings=() if self._ended else ("the stream ended with neither a finish_reason nor [DONE]",),
            usage=usage,
        )

    def _take(self, events: list[str], seconds: float) -> None:
        for part in (part for data in events for part in parts(data)):
            if self._failure:
                return
            if part == "[DONE]":
                self._ended = True
            else:
                self._chunk(part, seconds)

    def _chunk(self, data: str, seconds: float) -> None:
        value = replies.parse(data)
        if not isinstance(value, dict):
            self._failure = {"error": "stream parse error: an event is no JSON object", "error_payload": data}
            return
        if value.get("error"):
            what = data[: replies.LONGEST_ERROR]
            self._failure = {"error": f"stream parse error: the server reports {what}", "error_payload": data}
            return
        choice = message.first_choice(value) or {}
        delta = choice.get("delta") or choice.get("message")
        text = self._delta(delta) if isinstance(delta, Mapping) else ""
        self._chunks.append({"offset_s": round(seconds, 6), "delta": text})
        if text and self._ttft_s is None:
            self._ttft_s = seconds
        if isinstance(value.get("usage"), Mapping) and value["usage"]:
            self._usage = value["usage"]
        if choice.get("finish_reason") is not None:
            self._finish_reason, self._ended = message.text_or_none(choice["finish_reason"]), True
        self._answered = self._answered or bool(choice)

    def _delta(self, delta: Mapping[str, Any]) -> str:
        text, thought = message.split_content(delta.get("content"))
        self._texts.append(text)
        self._thoughts.append(message.reasoning_of(delta) or thought)
        self._refusals.append(message.refusal_of(delta) or "")
        return text

    def _raw(self) -> dict[str, Any]:
        """The stream as its raw file shows it: one choice, and every event's piece of text with its time."""
        content = message.mend("".join(self._texts))
        choice = {"index": 0, "message": {"role": "assistant", "content": content}}
        value = {"model": self._model, "choices": [choice], "chunks": self._chunks}
        return {**value, **({"usage": self._usage} if self._usage else {}), **self._failure}
