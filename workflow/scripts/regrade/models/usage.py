"""Reading a server's token counts, and noticing that it cut the prompt."""

import json
import re
from collections.abc import Mapping
from typing import Any

from regrade.models.types import Usage

_FAR_BELOW = 0.6
_WORTH_A_LOOK = 256
_LIMITS = {1024 * 2**power for power in range(1, 12)}


def read_usage(value: Any) -> Usage:
    """The counts of a reply's `usage`; what is missing, null or no count is None, never 0."""
    if not isinstance(value, Mapping):
        return Usage()
    prompt = _count(value, "prompt_tokens", "input_tokens") or None
    output = _count(value, "completion_tokens", "output_tokens")
    details = value.get("completion_tokens_details") or value.get("output_tokens_details")
    reasoning = _count(details, "reasoning_tokens")
    cached = _count(value.get("prompt_tokens_details") or value.get("input_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _count(value, "prompt_cache_hit_tokens")
    if prompt is None and not output:
        output = None
    if reasoning and prompt and output is not None and _count(value, "total_tokens") == prompt + output + reasoning:
        # Some servers count reasoning beside the output instead of inside it.
        output += reasoning
    return Usage(prompt, output, cached, reasoning)


def _count(value: Any, *keys: str) -> int | None:
    if not isinstance(value, Mapping):
        return None
    for key in keys:
        number = value.get(key)
        if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
            return number
    return None


def least_tokens(messages: list[dict[str, Any]]) -> int:
    """About the fewest tokens that messages can be: a word is at least one, and so are five bytes of dense text."""
    text = "\n".join(
        message["content"] if isinstance(message.get("content"), str) else json.dumps(message.get("content"))
        for message in messages
    )
    dense = len("".join(text.split()).encode("utf-8", "replace"))
    return max(len(re.findall(r"\w+", text)), dense // 5)


def prompt_warnings(messages: list[dict[str, Any]], usage: Usage) -> list[str]:
    """A warning when the server seems to have read only a part of the prompt; [] otherwise."""
    if usage.prompt is None:
        return []
    least = least_tokens(messages)
    if least >= _WORTH_A_LOOK and usage.prompt < _FAR_BELOW * least:
        return [f"prompt cut by the server? it counted {usage.prompt} tokens of at least about {least}"]
    total = usage.prompt + (usage.output or 0)
    for count, what in ((usage.prompt, "the prompt"), (total, "prompt and answer")):
        if count in _LIMITS:
            return [f"prompt cut by the server? it counted exactly {count} tokens for {what}, a usual context limit"]
    return []
