"""The chat-completions protocol that OpenAI began and most servers speak: bodies out, replies in."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from regrade.models import message
from regrade.models.sse import EventReader
from regrade.models.types import Answer, ChatRequest, ModelConfig, Usage
from regrade.models.usage import read_usage

_RENAMED = {"max_tokens": "max_completion_tokens"}
_STRUCTURE = ("model", "messages", "stream")
_LARGEST = 32 << 20


class BadReplyError(Exception):
    """A reply that is no answer. `kind` is a ProviderError's; `error` the error object that a server put in it."""

    def __init__(self, kind: str, what: str, error: Any = None) -> None:
        self.kind = kind
        self.error = error
        super().__init__(what)


def chat_url(base_url: str) -> str:
    """Where requests go: the base address with `/chat/completions` behind its path, its query kept."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path += "/chat/completions"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def build_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """The body of a request with every parameter."""
    body: dict[str, Any] = {"model": model.model, "messages": request.messages, "stream": model.stream}
    if model.stream and model.stream_usage == "include":
        body["stream_options"] = {"include_usage": True}
    parameters = {**model.request, **request.parameters}
    body.update({key: value for key, value in parameters.items() if value is not None})
    if request.tools:
        body["tools"] = request.tools
    return body


def without(body: Mapping[str, Any], dropped: list[str]) -> dict[str, Any]:
    """The body less the parameters that the server refused; one that has a newer name is sent under that."""
    left = {key: value for key, value in body.items() if key not in dropped}
    for old, new in _RENAMED.items():
        if old in body and old in dropped and new not in dropped:
            left.setdefault(new, body[old])
    return left


def dropped(body: Mapping[str, Any], refused: list[str]) -> list[str]:
    """Which of the refused parameters this body goes without, newer names included."""
    names = {*body, *(_RENAMED[key] for key in body if key in _RENAMED)}
    return [name for name in refused if name in names]


def drop_warnings(names: list[str]) -> list[str]:
    """A warning for each parameter that was left out."""
    return [
        f"parameter {name} was refused by the server and "
        + (f"sent as {_RENAMED[name]}" if name in _RENAMED and _RENAMED[name] not in names else "left out")
        for name in names
    ]


def droppable(body: Mapping[str, Any]) -> list[str]:
    """The keys of a body whose refusal can be answered: parameters, which are left out, and tools."""
    return [key for key in body if key not in _STRUCTURE]


class ReplyReader:
    """Reads a successful reply as it comes, event stream or whole body, whatever was asked for.

    `done` is set when nothing more is expected, `started` at the first piece of an answer.
    """

    def __init__(self, content_type: str) -> None:
        self._events: EventReader | None = None
        self._known = "json" in content_type or "html" in content_type
        if "event-stream" in content_type:
            self._events, self._known = EventReader(), True
        self._body = bytearray()
        self._stream = StreamedAnswer()
        self._size = 0
        self.done = False

    @property
    def started(self) -> bool:
        """Whether a piece of text, reasoning or a tool call has come in an event stream."""
        return self._stream.started

    @property
    def answered(self) -> bool:
        """Whether an event stream has come to its end, [DONE] or not."""
        return self._stream.ended

    @property
    def beginning(self) -> bytes:
        """What there is to show of the reply in a message."""
        return bytes(self._body[:2000]) if self._events is None else "\n".join(self._stream.raw)[:2000].encode()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes. Raises BadReplyError for an error inside the stream and for a body without end."""
        self._size += len(chunk)
        if self._size > _LARGEST:
            raise BadReplyError("bad_body", f"the reply is larger than {_LARGEST >> 20} MB")
        if self._events is None:
            self._body += chunk
            if self._known or not self._body.strip():
                return
            self._known = True
            if self._body.lstrip().startswith((b"{", b"[", b"<")):
                return
            self._events, chunk = EventReader(), bytes(self._body)
        for data in self._events.feed(chunk):
            self.done = self._stream.add(data) or self.done

    def finish(self) -> tuple[Answer, str | list[str]]:
        """The answer and the raw reply. Raises BadReplyError if it is none, or only a part of one."""
        if self._events is None:
            body = bytes(self._body)
            return parse_body(body), body.decode("utf-8", "replace")
        for data in self._events.finish():
            self._stream.add(data)
        return self._stream.finish(), self._stream.raw


def parse_body(body: bytes) -> Answer:
    """Read a whole reply. Raises BadReplyError if it is an error, not JSON, or has no choice."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadReplyError("bad_body", f"expected a JSON object, got {_kind_of(body)}") from error
    choice = _first_choice(value)
    if choice is None:
        raise BadReplyError("bad_body", "the reply has no choice, expected one in `choices`")
    content = choice.get("message")
    if not isinstance(content, Mapping):
        raise BadReplyError("bad_body", "the first choice has no message")
    text, thought = message.split_content(content.get("content"))
    return Answer(
        text=message.mend(text),
        reasoning=message.mend(message.reasoning_of(content) or thought),
        tool_calls=message.read_tool_calls(content),
        finish_reason=message.text_or_none(choice.get("finish_reason")),
        refusal=message.refusal_of(content),
        usage=read_usage(value.get("usage")),
        served_model=message.text_or_none(value.get("model")),
    )


def _kind_of(body: bytes) -> str:
    start = body.lstrip()[:1]
    return "nothing" if not start else "a page of HTML" if start == b"<" else "a text that is no JSON"


def _first_choice(value: Any) -> Mapping[str, Any] | None:
    if not isinstance(value, Mapping):
        raise BadReplyError("bad_body", f"expected a JSON object, got a {type(value).__name__}")
    if value.get("error"):
        raise BadReplyError("error_body", "the server reports an error in a reply with status 200", value["error"])
    return message.first_choice(value)


class StreamedAnswer:
    """Puts the pieces of a stream together."""

    def __init__(self) -> None:
        self.raw: list[str] = []
        self.started = False
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._tools = message.ToolCalls()
        self._finish_reason: str | None = None
        self._usage = Usage()
        self._served_model: str | None = None
        self._done = False

    def add(self, data: str) -> bool:
        """Take one event's data; True when it says that the stream is over."""
        self.raw.append(data)
        for part in parts(data):
            if part == "[DONE]":
                self._done = True
            else:
                self._chunk(_loads(part))
        return self._done

    @property
    def ended(self) -> bool:
        """Whether [DONE] or a finish_reason has come."""
        return self._done or self._finish_reason is not None

    def _chunk(self, value: Any) -> None:
        choice = _first_choice(value)
        # Usage counts grow from chunk to chunk: the last one holds.
        if isinstance(value.get("usage"), Mapping) and value["usage"]:
            self._usage = read_usage(value["usage"])
        self._served_model = message.text_or_none(value.get("model")) or self._served_model
        if choice is None:
            return
        if choice.get("finish_reason") is not None:
            self._finish_reason = message.text_or_none(choice["finish_reason"])
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, Mapping):
            self._delta(delta)

    def _delta(self, delta: Mapping[str, Any]) -> None:
        text, thought = message.split_content(delta.get("content"))
        thought = message.reasoning_of(delta) or thought
        self._text.append(text)
        self._reasoning.append(thought)
        self._refusal.append(message.refusal_of(delta) or "")
        called = self._tools.add(delta)
        self.started = self.started or bool(text or thought or called)

    def finish(self) -> Answer:
        """The whole answer. Raises BadReplyError for a stream that was cut or that brought no choice."""
        if not self.ended:
            raise BadReplyError("stream_cut", "the stream ended with neither a finish_reason nor [DONE]")
        if self._finish_reason is None and not self.started and not any(self._refusal):
            raise BadReplyError("bad_body", "the stream brought no choice, expected one in `choices`")
        return Answer(
            text=message.mend("".join(self._text)),
            reasoning=message.mend("".join(self._reasoning)),
            tool_calls=self._tools.finished(),
            finish_reason=self._finish_reason,
            refusal="".join(self._refusal) or None,
            usage=self._usage,
            served_model=self._served_model,
        )


def parts(data: str) -> list[str]:
    """The events in a data field: several, if a server left out the blank lines between them."""
    lines = [line for line in data.split("\n") if line.strip()]
    if len(lines) > 1:
        try:
            json.loads(data)
        except (ValueError, RecursionError):
            return [line.strip() for line in lines]
    return [data.strip()] if data.strip() else []


def _loads(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadReplyError("bad_body", "an event of the stream is no JSON") from error
