"""Reading a reply as it comes, whole or in pieces, and reading a kept one again: the part that protocols share."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from regrade.models.sse import EventReader, LineReader
from regrade.models.types import Answer, Usage

Raw = str | list[str]
"""A reply as it is kept: its body, or the data fields (the lines) of its stream."""

_LARGEST = 32 << 20
_WITHOUT_KEY = '{"answer_without_key":'


class BadReplyError(Exception):
    """A reply that is no answer. `kind` is a ProviderError's; `error` the error object that a server put in it."""

    def __init__(self, kind: str, what: str, error: Any = None) -> None:
        self.kind = kind
        self.error = error
        super().__init__(what)


class Gatherer(Protocol):
    """Puts the pieces of a stream together."""

    raw: list[str]
    started: bool
    """A piece of text, reasoning or a tool call has come."""

    @property
    def ended(self) -> bool:
        """The answer is whole, whatever may follow."""

    def add(self, data: str) -> bool:
        """Take one event's data or one line; True when nothing more is expected. Raises BadReplyError."""

    def finish(self) -> Answer:
        """The whole answer. Raises BadReplyError for a stream that was cut or that brought nothing."""


@dataclass(frozen=True)
class Form:
    """How a protocol's replies are read: `parse` takes a whole body's text; `lines` are streams of JSON lines."""

    parse: Callable[[str], Answer]
    gatherer: Callable[[], Gatherer]
    lines: bool = False


class ReplyReader:
    """Reads a successful reply, stream or whole body, whatever was asked for.

    `done` is set when nothing more is expected.
    """

    def __init__(self, content_type: str, form: Form) -> None:
        self._form = form
        self._stream: EventReader | LineReader | None = None
        self._known = "json" in content_type or "html" in content_type
        if "event-stream" in content_type:
            self._stream, self._known = EventReader(), True
        elif form.lines and "ndjson" in content_type:
            self._stream = LineReader()
        self._body = bytearray()
        self._gatherer = form.gatherer()
        self._size = 0
        self.done = False

    @property
    def started(self) -> bool:
        """Whether a piece of text, reasoning or a tool call has come in a stream."""
        return self._gatherer.started

    @property
    def answered(self) -> bool:
        """Whether a stream's answer is whole, though the stream may go on."""
        return self._gatherer.ended

    @property
    def beginning(self) -> bytes:
        """What there is to show of the reply in a message."""
        return bytes(self._body[:2000]) if self._stream is None else "\n".join(self._gatherer.raw)[:2000].encode()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes. Raises BadReplyError for an error inside the stream and for a body without end."""
        self._size += len(chunk)
        if self._size > _LARGEST:
            raise BadReplyError("bad_body", f"the reply is larger than {_LARGEST >> 20} MB")
        if self._stream is None:
            self._body += chunk
            if self._known or not self._body.strip():
                return
            self._known = True
            if self._body.lstrip().startswith((b"{", b"[", b"<")):
                return
            self._stream, chunk = EventReader(), bytes(self._body)
        for data in self._stream.feed(chunk):
            self.done = self._gatherer.add(data) or self.done

    def finish(self) -> tuple[Answer, Raw]:
        """The answer and the raw reply. Raises BadReplyError if it is none, or only a part of one."""
        if self._stream is None:
            text = _text_of(bytes(self._body))
            return self._form.parse(text), text
        for data in self._stream.finish():
            self._gatherer.add(data)
        return self._gatherer.finish(), self._gatherer.raw


def answer_of(raw: Raw, form: Form) -> Answer:
    """What a kept reply says, as it was read when it came. Raises BadReplyError if it is none."""
    if isinstance(raw, list):
        gatherer = form.gatherer()
        for data in raw:
            gatherer.add(data)
        return gatherer.finish()
    return _from_without_key(raw) if raw.startswith(_WITHOUT_KEY) else form.parse(raw)


def without_key(answer: Answer) -> str:
    """What is kept of a reply that held the API key in pieces: its answer, from which the key was taken."""
    return f"{_WITHOUT_KEY}{json.dumps(dataclasses.asdict(answer))}}}"


def _from_without_key(raw: str) -> Answer:
    values = json.loads(raw)["answer_without_key"]
    tops = values["top_logprobs"]
    values["top_logprobs"] = tops and [(token, logprob) for token, logprob in tops]
    return Answer(**{**values, "usage": Usage(**values["usage"])})


def _text_of(body: bytes) -> str:
    try:
        return body.decode(json.detect_encoding(body))
    except UnicodeDecodeError as error:
        raise BadReplyError("bad_body", "the reply is no text in UTF-8") from error


def load_object(text: str) -> Mapping[str, Any]:
    """The object in a whole body. Raises BadReplyError if it is no object, or one that reports an error."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadReplyError("bad_body", f"expected a JSON object, got {_kind_of(text)}") from error
    return require_answer(value)


def load_event(data: str) -> Mapping[str, Any]:
    """The object in one event or line of a stream. Raises BadReplyError as `load_object` does."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadReplyError("bad_body", "an event of the stream is no JSON") from error
    return require_answer(value)


def require_answer(value: Any) -> Mapping[str, Any]:
    """The value, if it is an object without an error. Raises BadReplyError."""
    if not isinstance(value, Mapping):
        raise BadReplyError("bad_body", f"expected a JSON object, got a {type(value).__name__}")
    if value.get("error"):
        raise BadReplyError("error_body", "the server reports an error in a reply with status 200", value["error"])
    return value


def _kind_of(text: str) -> str:
    start = text.lstrip()[:1]
    return "nothing" if not start else "a page of HTML" if start == "<" else "a text that is no JSON"
