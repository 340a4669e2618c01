"""The chat-completions protocol that OpenAI began and most servers speak: bodies out, replies in."""

from collections.abc import Mapping
from typing import Any

from regrade.models import message, parameters, reading
from regrade.models.addresses import with_path
from regrade.models.reading import BadReplyError, Form, Raw, ReplyReader
from regrade.models.sse import parts
from regrade.models.types import Answer, ChatRequest, ModelConfig, Usage
from regrade.models.usage import read_usage

WORDS = {
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "top_p": "top_p",
    "top_k": "top_k",
    "repetition_penalty": "repetition_penalty",
    "reasoning_effort": "reasoning_effort",
    "text_verbosity": "verbosity",
}
RENAMED = {"max_tokens": "max_completion_tokens"}

_MOVED = {word: place for word, place in WORDS.items() if word != place}
_STRUCTURE = ("model", "messages", "stream")


def url(base_url: str) -> str:
    """The base address with `/chat/completions` behind its path."""
    return with_path(base_url, "/chat/completions")


def build_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """The body of a request with every parameter."""
    chosen = parameters.placed(parameters.merge(model.request, request.parameters), _MOVED)
    streams = chosen.pop("stream", model.stream)
    body: dict[str, Any] = {"model": model.model, "messages": request.messages, "stream": streams}
    if streams and model.stream_usage == "include":
        body["stream_options"] = {"include_usage": True}
    body.update(chosen)
    for old, new in RENAMED.items():
        if old in body and new in body:
            body[new] = body.pop(old)
    if request.tools:
        body["tools"] = request.tools
    return body


def droppable(body: Mapping[str, Any]) -> list[str]:
    """The places of a body whose refusal can be answered: parameters, which are left out, and tools."""
    return parameters.places(body, _STRUCTURE)


def reader(content_type: str) -> ReplyReader:
    """A reader of one successful reply."""
    return ReplyReader(content_type, _FORM)


def answer_of(raw: Raw) -> Answer:
    """What a kept reply says. Raises BadReplyError."""
    return reading.answer_of(raw, _FORM)


def _parse(text: str) -> Answer:
    value = reading.load_object(text)
    choice = message.first_choice(value)
    if choice is None:
        raise BadReplyError("bad_body", "the reply has no choice, expected one in `choices`")
    content = choice.get("message")
    if not isinstance(content, Mapping):
        raise BadReplyError("bad_body", "the first choice has no message")
    said, thought = message.split_content(content.get("content"))
    return Answer(
        text=message.mend(said),
        reasoning=message.mend(message.reasoning_of(content) or thought),
        tool_calls=message.read_tool_calls(content),
        finish_reason=message.text_or_none(choice.get("finish_reason")),
        refusal=message.refusal_of(content),
        usage=read_usage(value.get("usage")),
        served_model=message.text_or_none(value.get("model")),
        top_logprobs=message.top_logprobs(choice.get("logprobs")),
    )


class _Streamed:
    """Puts the chunks of a stream together."""

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
        self._top_logprobs: list[tuple[str, float]] | None = None
        self._done = False

    def add(self, data: str) -> bool:
        """Take one event's data; True when it says that the stream is over."""
        self.raw.append(data)
        for part in parts(data):
            if part == "[DONE]":
                self._done = True
            else:
                self._chunk(reading.load_event(part))
        return self._done

    @property
    def ended(self) -> bool:
        """Whether [DONE] or a finish_reason has come."""
        return self._done or self._finish_reason is not None

    def _chunk(self, value: Mapping[str, Any]) -> None:
        choice = message.first_choice(value)
        # Usage counts grow from chunk to chunk: the last one holds.
        if isinstance(value.get("usage"), Mapping) and value["usage"]:
            self._usage = read_usage(value["usage"])
        self._served_model = message.text_or_none(value.get("model")) or self._served_model
        if choice is None:
            return
        if choice.get("finish_reason") is not None:
            self._finish_reason = message.text_or_none(choice["finish_reason"])
        if self._top_logprobs is None:
            self._top_logprobs = message.top_logprobs(choice.get("logprobs"))
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
            top_logprobs=self._top_logprobs,
        )


_FORM = Form(_parse, _Streamed)
