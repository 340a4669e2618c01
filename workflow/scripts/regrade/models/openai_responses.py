"""OpenAI's Responses protocol: a conversation as input items, an answer as output items."""

from collections.abc import Iterator, Mapping
from typing import Any

from regrade.models import message, parameters, reading
from regrade.models.addresses import with_path
from regrade.models.reading import BadReplyError, Form, Raw, ReplyReader
from regrade.models.sse import parts
from regrade.models.types import Answer, ChatRequest, ModelConfig
from regrade.models.usage import read_usage

WORDS = {
    "temperature": "temperature",
    "max_tokens": "max_output_tokens",
    "top_p": "top_p",
    "top_k": "top_k",
    "repetition_penalty": "repetition_penalty",
    "reasoning_effort": "reasoning.effort",
    "reasoning_summary": "reasoning.summary",
    "text_verbosity": "text.verbosity",
}
RENAMED: dict[str, str] = {}
FEWEST_TOKENS = 16
"""The protocol knows no smaller budget for an answer."""

_MOVED = {word: place for word, place in WORDS.items() if word != place}
_STRUCTURE = ("model", "input", "instructions", "stream")
_LOGPROBS = "message.output_text.logprobs"
_ENDINGS = {"completed": "stop", "max_output_tokens": "length"}
_LAST = ("response.completed", "response.incomplete", "response.failed")
_PIECES = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.function_call_arguments.delta": "call",
}


def url(base_url: str) -> str:
    """The base address with `/responses` behind its path."""
    return with_path(base_url, "/responses", less="/chat/completions")


def build_body(model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
    """The body of a request with every parameter; a system message at the beginning becomes `instructions`."""
    chosen = parameters.placed(parameters.merge(model.request, request.parameters), _MOVED)
    streams = chosen.pop("stream", model.stream)
    if chosen.pop("logprobs", False):
        chosen["include"] = [*chosen.get("include", []), _LOGPROBS]
    first = request.messages[0] if request.messages else {}
    system = first["content"] if first.get("role") == "system" and isinstance(first.get("content"), str) else ""
    items = [item for said in request.messages[bool(system) :] for item in _items(said)]
    body: dict[str, Any] = {"model": model.model, "input": items, "stream": streams}
    if system:
        body["instructions"] = system
    body.update(chosen)
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        body.setdefault("tool_choice", "auto")
        body.setdefault("parallel_tool_calls", False)
    return body


def _items(said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The input items that a chat message is."""
    content = said.get("content")
    if said.get("role") == "tool":
        yield {"type": "function_call_output", "call_id": said.get("tool_call_id", ""), "output": content or ""}
        return
    if content:
        shown = [_part(part) for part in content] if isinstance(content, list) else content
        yield {"role": said["role"], "content": shown}
    for call in said.get("tool_calls") or ():
        function = call["function"]
        named = {"name": function["name"], "arguments": function["arguments"]}
        yield {"type": "function_call", "call_id": call["id"], **named}


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part.get("type") == "image_url":
        return {"type": "input_image", "image_url": part["image_url"]["url"]}
    return {"type": "input_text", "text": part.get("text", "")}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    # Without `strict` the server would rewrite the schema so that every argument is required.
    return {"type": "function", "strict": False, **tool["function"]}


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
    return _read(reading.load_object(text))


def _read(value: Mapping[str, Any]) -> Answer:
    status = value.get("status", "completed")
    output = value.get("output")
    items = [item for item in output if isinstance(item, Mapping)] if isinstance(output, list) else []
    if status not in ("completed", "incomplete") or (not items and status == "completed"):
        raise BadReplyError("bad_body", f"the reply has status {status!r} and {len(items)} items of output")
    details = value.get("incomplete_details")
    ending = details.get("reason") if status == "incomplete" and isinstance(details, Mapping) else status
    said = [part for item in items if item.get("type") == "message" for part in _parts(item.get("content"))]
    calls = [item for item in items if item.get("type") == "function_call"]
    tops = (message.top_logprobs(part.get("logprobs")) for part in said)
    return Answer(
        text=message.mend("".join(message.flat(part) for part in said if part.get("type") != "refusal")),
        reasoning=message.mend("\n".join(filter(None, map(_thoughts, items)))),
        tool_calls=message.read_tool_calls({"tool_calls": [_call(call) for call in calls]}),
        finish_reason=_ENDINGS.get(str(ending), message.text_or_none(ending)),
        refusal="".join(message.flat(part.get("refusal")) for part in said) or None,
        usage=read_usage(value.get("usage")),
        served_model=message.text_or_none(value.get("model")),
        top_logprobs=next((found for found in tops if found is not None), None),
    )


def _parts(content: Any) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"text": content}]
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []


def _call(item: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"id": item.get("call_id") or item.get("id"), "function": function}


def _thoughts(item: Mapping[str, Any]) -> str:
    if item.get("type") != "reasoning":
        return ""
    return message.flat(item.get("content")) or "\n".join(map(message.flat, _parts(item.get("summary"))))


class _Streamed:
    """Takes the whole response that the last event brings, or puts the items together where that is empty."""

    def __init__(self) -> None:
        self.raw: list[str] = []
        self.started = False
        self._text: list[str] = []
        self._items: list[Mapping[str, Any]] = []
        self._whole: Mapping[str, Any] | None = None

    @property
    def ended(self) -> bool:
        """Whether the event that ends a response has come."""
        return self._whole is not None

    def add(self, data: str) -> bool:
        """Take one event's data; True when it ends the response."""
        self.raw.append(data)
        for part in parts(data):
            if part != "[DONE]":
                self._event(reading.load_event(part))
        return self.ended

    def _event(self, value: Mapping[str, Any]) -> None:
        kind = value.get("type")
        if kind == "error":
            raise BadReplyError("error_body", "the server reports an error in a reply with status 200", dict(value))
        if kind in _PIECES:
            self.started = True
            if _PIECES[kind] == "text" and isinstance(value.get("delta"), str):
                self._text.append(value["delta"])
        elif kind == "response.output_item.done" and isinstance(value.get("item"), Mapping):
            self._items.append(value["item"])
        elif kind in _LAST:
            self._whole = reading.require_answer(value.get("response"))

    def finish(self) -> Answer:
        """The whole answer. Raises BadReplyError for a stream that was cut or that brought nothing."""
        if self._whole is None:
            raise BadReplyError("stream_cut", "the stream ended without response.completed")
        return _read({**self._whole, "output": self._whole.get("output") or self._items or self._pieces()})

    def _pieces(self) -> list[Mapping[str, Any]]:
        return [{"type": "message", "content": "".join(self._text)}] if self._text else []


_FORM = Form(_parse, _Streamed)
