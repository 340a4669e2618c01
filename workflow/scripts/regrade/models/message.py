"""The parts of an assistant's message, in the many shapes that servers give them."""

import json
import re
from collections.abc import Mapping
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")
MOST_TOKENS = 10**12
_THOUGHTS = ("thinking", "reasoning", "reasoning_content")


def first_choice(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first choice of a reply or of an event of a stream; None if it brings none."""
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, Mapping) and choice.get("index") in (0, None):
            return choice
    return None


def text_or_none(value: Any) -> str | None:
    """A text as it is; null stays None, anything else becomes JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def mend(text: str) -> str:
    """Join surrogate pairs that were sent in two pieces; a lone half becomes U+FFFD, as no file could hold it."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def split_content(content: Any) -> tuple[str, str]:
    """The text and the thoughts in `content`: null, a text, or a list of parts."""
    if isinstance(content, str):
        return content, ""
    parts = content if isinstance(content, list) else [content]
    texts, thoughts = [], []
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") in _THOUGHTS:
            thoughts.append(flat([part.get(key) for key in (*_THOUGHTS, "text") if part.get(key)][:1]))
        elif isinstance(part, str) or (isinstance(part, Mapping) and part.get("type") != "refusal"):
            texts.append(flat(part))
    return "".join(texts), "".join(thoughts)


def flat(value: Any, depth: int = 20) -> str:
    """The text in a value: a text, a list of such, or an object that has one; none below so many levels."""
    if isinstance(value, str):
        return value
    if depth and isinstance(value, list):
        return "".join(flat(item, depth - 1) for item in value)
    if depth and isinstance(value, Mapping):
        return flat(value.get("text") or value.get("summary") or value.get("content"), depth - 1)
    return ""


def reasoning_of(message: Mapping[str, Any]) -> str:
    """The reasoning beside the content; servers that send it under two names mean it once."""
    for key in ("reasoning_content", "reasoning", "reasoning_details"):
        if found := flat(message.get(key)):
            return found
    return ""


def refusal_of(message: Mapping[str, Any]) -> str | None:
    """The refusal of a message, if it holds one."""
    if isinstance(message.get("refusal"), str) and message["refusal"]:
        return str(message["refusal"])
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    said = [part.get("refusal") for part in parts if isinstance(part, Mapping) and part.get("type") == "refusal"]
    return flat(said) or None


def top_logprobs(value: Any) -> list[tuple[str, float]] | None:
    """The candidates for an answer's first token with their log-probabilities; None if there are none to read.

    Takes a list with an object a token, an object that has one as `content`, or one with the older `top_logprobs`.
    """
    if isinstance(value, Mapping):
        older = value.get("top_logprobs")
        value = value.get("content") or ([{"top_logprobs": older[0]}] if isinstance(older, list) and older else None)
    first = value[0] if isinstance(value, list) and value else None
    found = first.get("top_logprobs") if isinstance(first, Mapping) else None
    if isinstance(found, Mapping):
        found = [{"token": token, "logprob": logprob} for token, logprob in found.items()]
    if not isinstance(found, list):
        return None
    return [
        (mend(entry["token"]), float(entry["logprob"]))
        for entry in found
        if isinstance(entry, Mapping) and isinstance(entry.get("token"), str) and _is_logprob(entry.get("logprob"))
    ]


def _is_logprob(value: Any) -> bool:
    # An integer may be too large for a float.
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e308 < value < 1e308


def count(value: Any) -> int | None:
    """A number of tokens, None if it is none that can be."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_TOKENS else None


def read_tool_calls(message: Mapping[str, Any]) -> list[dict[str, str]]:
    """The tool calls of a whole message."""
    if not (message.get("tool_calls") or message.get("function_call")):
        return []
    calls = ToolCalls()
    entries = message.get("tool_calls")
    if isinstance(entries, list):
        # In a whole message each entry is a call of its own, whatever index it bears.
        entries = [{**entry, "index": place} for place, entry in enumerate(entries) if isinstance(entry, Mapping)]
    calls.add({**message, "tool_calls": entries})
    return calls.finished()


class ToolCalls:
    """Gathers tool calls from one message or from the pieces of a stream."""

    def __init__(self) -> None:
        self._calls: list[dict[str, str]] = []
        self._place: dict[Any, int] = {}

    def add(self, message: Mapping[str, Any]) -> bool:
        """Take the calls of a message or piece; whether there was one."""
        entries = message.get("tool_calls")
        found = [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
        if isinstance(message.get("function_call"), Mapping):
            found.append({"index": "function_call", "function": message["function_call"]})
        for entry in found:
            self._piece(entry)
        return bool(found)

    def _piece(self, entry: Mapping[str, Any]) -> None:
        function = entry.get("function")
        function = function if isinstance(function, Mapping) else {}
        identity, name = text_or_none(entry.get("id")) or "", text_or_none(function.get("name")) or ""
        call = self._call_for(entry.get("index"), identity)
        call["id"] = call["id"] or identity
        call["name"] = call["name"] or name
        arguments = function.get("arguments")
        call["arguments"] += text_or_none(arguments) or ""

    def _call_for(self, index: Any, identity: str) -> dict[str, str]:
        """The call that a piece belongs to: by index, or the last one; a new id always begins a new call."""
        place = self._place.get(index) if index is not None else (len(self._calls) - 1 if self._calls else None)
        if place is None or (identity and self._calls[place]["id"] not in ("", identity)):
            place = len(self._calls)
            self._calls.append({"id": "", "name": "", "arguments": ""})
        self._place[index] = place
        return self._calls[place]

    def finished(self) -> list[dict[str, str]]:
        """The calls with name and arguments; one without an id is given one."""
        return [
            {**{key: mend(value) for key, value in call.items()}, "id": call["id"] or f"call_{place}"}
            for place, call in enumerate(self._calls)
        ]


def strip_thinking(text: str) -> tuple[str, str]:
    """A text without a leading `<think>` part, and that part; one that was never closed is all thought."""
    match = re.match(r"\s*<think(?:ing)?>", text)
    opened = text[match.end() :] if match else text
    closing = re.search(r"</think(?:ing)?>", opened)
    if closing:
        return opened[closing.end() :].lstrip(), opened[: closing.start()].strip()
    return ("", opened.strip()) if match else (text, "")
