"""Ollama's chat protocol: options in a table of their own, thoughts beside the text, streams of JSON lines."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from regrade.errors import NotApplicable
from regrade.models import message, parameters, reading
from regrade.models.addresses import with_path
from regrade.models.reading import BadReplyError, Form, Raw, ReplyReader
from regrade.models.types import Answer, ChatRequest, ModelConfig, Usage

DEFAULT_ADDRESS = "http://localhost:11434"
WORDS = {
    "temperature": "options.temperature",
    "max_tokens": "options.num_predict",
    "top_p": "options.top_p",
    "top_k": "options.top_k",
    "repetition_penalty": "options.repeat_penalty",
    "thinking": "think",
}
RENAMED: dict[str, str] = {}

_MOVED = {**WORDS, **{word: f"options.{word}" for word in ("seed", "stop", "min_p")}}
_STRUCTURE = ("model", "messages", "stream")


def url(base_url: str) -> str:
    """The base address with `/api/chat` behind its path; Ollama's other address, with `/v1`, is understood."""
    return with_path(base_url or DEFAULT_ADDRESS, "/api/chat", less="/v1")


def build_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """The body of a request with every parameter. Raises NotApplicable for a picture that is an address."""
    chosen = parameters.placed(parameters.merge(model.request, request.parameters), _MOVED)
    streams = chosen.pop("stream", model.stream)
    body = {"model": model.model, "messages": list(_messages(request.messages)), "stream": streams, **chosen}
    if request.tools:
        body["tools"] = request.tools
    return body


def _messages(messages: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    names: dict[str, str] = {}
    for said in messages:
        content = said.get("content")
        shown: dict[str, Any] = {"role": said["role"], "content": content or ""}
        if isinstance(content, list):
            shown["content"] = "\n".join(part["text"] for part in content if part.get("type") == "text")
            shown["images"] = [_picture(part["image_url"]["url"]) for part in content if part.get("type") != "text"]
        if said.get("tool_calls"):
            names |= {call["id"]: call["function"]["name"] for call in said["tool_calls"]}
            shown["tool_calls"] = [_call(call["function"]) for call in said["tool_calls"]]
        if said.get("tool_call_id") in names:
            shown["tool_name"] = names[said["tool_call_id"]]
        yield shown


def _picture(address: str) -> str:
    head, _, data = address.partition(";base64,")
    if not head.startswith("data:"):
        raise NotApplicable(f"the picture {address[:200]} is an address, and ollama-chat takes only image_path")
    return data


def _call(function: Mapping[str, Any]) -> dict[str, Any]:
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        arguments = None
    return {"function": {"name": function["name"], "arguments": arguments if isinstance(arguments, dict) else {}}}


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
    """A whole body: one object, or the lines of a stream under a wrong content type."""
    gatherer = _Streamed()
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and _is_json(lines[0]):
        for line in lines:
            gatherer.add(line)
    else:
        gatherer.take(reading.load_object(text))
    return gatherer.finish()


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


class _Streamed:
    """Puts the lines of a stream together; a whole body is a stream of one."""

    def __init__(self) -> None:
        self.raw: list[str] = []
        self.started = False
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[Any] = []
        self._top_logprobs: list[tuple[str, float]] | None = None
        self._last: Mapping[str, Any] | None = None
        self._has_message = False

    @property
    def ended(self) -> bool:
        """Whether the line that ends an answer has come."""
        return self._last is not None

    def add(self, data: str) -> bool:
        """Take one line; True when it ends the answer."""
        self.raw.append(data)
        self.take(reading.load_event(data))
        return self.ended

    def take(self, value: Mapping[str, Any]) -> None:
        """Take one object."""
        if value.get("done"):
            self._last = value
        if self._top_logprobs is None:
            self._top_logprobs = message.top_logprobs(value.get("logprobs"))
        said = value.get("message")
        if not isinstance(said, Mapping):
            return
        self._has_message = True
        text, thought = message.split_content(said.get("content"))
        self._text.append(text)
        self._reasoning.append(message.flat(said.get("thinking")) or thought)
        calls = said.get("tool_calls")
        self._calls += calls if isinstance(calls, list) else []
        self.started = self.started or bool(text or self._reasoning[-1] or calls)

    def finish(self) -> Answer:
        """The whole answer. Raises BadReplyError for a stream that was cut or that brought no message."""
        if self._last is None:
            raise BadReplyError("stream_cut", "the reply ended without a line that says done")
        if not self._has_message:
            raise BadReplyError("bad_body", "the reply has no message")
        prompt, output = (message.count(self._last.get(name)) for name in ("prompt_eval_count", "eval_count"))
        return Answer(
            text=message.mend("".join(self._text)),
            reasoning=message.mend("".join(self._reasoning)),
            tool_calls=message.read_tool_calls({"tool_calls": self._calls}),
            finish_reason=message.text_or_none(self._last.get("done_reason")),
            usage=Usage(prompt, output),
            served_model=message.text_or_none(self._last.get("model")),
            top_logprobs=self._top_logprobs,
        )


_FORM = Form(_parse, _Streamed, lines=True)
