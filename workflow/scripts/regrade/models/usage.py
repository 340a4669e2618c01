"""Reading a server's token counts, and noticing that it cut the prompt."""

import re
from collections.abc import Mapping
from typing import Any

from regrade.models.message import count, split_content
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
    return next((number for key in keys if (number := count(value.get(key))) is not None), None)


def least_tokens(text: str) -> int:
    """About the fewest tokens that a text can be: a word is at least one, and so are five bytes when it is dense."""
    dense = len("".join(text.split()).encode("utf-8", "replace"))
    return max(len(re.findall(r"\w+", text)), dense // 5)


def prompt_warnings(messages: list[dict[str, Any]], usage: Usage) -> list[str]:
    """A warning when the server seems to have read only a part of the prompt; [] otherwise."""
    if usage.prompt is None:
        return []
    text = "\n".join(split_content(message.get("content"))[0] for message in messages)
    # A text of so few characters is too short to be looked at, however dense it is.
    least = least_tokens(text) if len(text) > _WORTH_A_LOOK else 0
    if least >= _WORTH_A_LOOK and usage.prompt < _FAR_BELOW * least:
        return [f"prompt cut by the server? it counted {usage.prompt} tokens of at least about {least}"]
    total = usage.prompt + (usage.output or 0)
    for tokens, what in ((usage.prompt, "the prompt"), (total, "prompt and answer")):
        if tokens in _LIMITS:
            return [f"prompt cut by the server? it counted exactly {tokens} tokens for {what}, a usual context limit"]
    return []
