"""The protocols of conversations, a module each: chat completions, responses, and Ollama's chat.

Measured calls of packs have modules of their own (models/adapters/).
"""

import importlib
from collections.abc import Mapping
from typing import Any, Protocol, cast

from regrade.models.reading import Raw, ReplyReader
from regrade.models.types import Answer, ChatRequest, ModelConfig

CONVERSATIONS = ("openai-chat", "openai-responses", "ollama-chat")
"""The adapters that conversations can have."""


class Conversation(Protocol):
    """What a module of a protocol has."""

    WORDS: Mapping[str, str]
    """The parameters that a task can set, each with its place in a body."""

    RENAMED: Mapping[str, str]
    """Names of parameters that newer servers want under another name."""

    def url(self, base_url: str) -> str:
        """Where requests go."""

    def build_body(self, model: ModelConfig, request: ChatRequest) -> dict[str, Any]:
        """The body of a request with every parameter. Raises NotApplicable if the protocol cannot say it."""

    def droppable(self, body: Mapping[str, Any]) -> list[str]:
        """The places of a body whose refusal can be answered: parameters, which are left out, and tools."""

    def reader(self, content_type: str) -> ReplyReader:
        """A reader of one successful reply."""

    def answer_of(self, raw: Raw) -> Answer:
        """What a kept reply says. Raises BadReplyError."""


def of(adapter: str) -> Conversation:
    """The protocol of an adapter of CONVERSATIONS."""
    if adapter not in CONVERSATIONS:
        raise ValueError(f"adapter {adapter!r}, expected one of: {', '.join(CONVERSATIONS)}")
    return cast(Conversation, importlib.import_module(f"regrade.models.{adapter.replace('-', '_')}"))
