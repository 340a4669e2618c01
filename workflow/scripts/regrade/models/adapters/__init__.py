"""The protocols of measured packs: one module each, with the same four names.

    DEFAULT_ADDRESS       the server's address when none is configured, or ""
    address(base_url)     where requests really go
    build_body(question)  the body of a request
    read(reply, question) what a reply says

Nothing here waits, retries or keeps answers: a measured call is one call.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from regrade.models.types import Usage

ADAPTERS = ("openai-chat", "ollama-generate")
DEFAULTS = ("temperature", "max_tokens", "top_p")
"""The pack's defaults that are sent."""


@dataclass(frozen=True)
class Question:
    """One prompt for a model. `defaults` are the pack's, `parameters` the model's own; the pack's win."""

    model: str
    prompt: str
    defaults: Mapping[str, Any]
    parameters: Mapping[str, Any]
    stream_usage: str = "include"

    @property
    def streams(self) -> bool:
        return bool(self.defaults.get("stream"))

    def sent(self) -> dict[str, Any]:
        """The parameters to send, in one order; one that is None is not sent."""
        chosen = {name: self.defaults[name] for name in DEFAULTS if name in self.defaults}
        values = {**chosen, **self.parameters, **chosen}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Reading:
    """What a reply says. `raw` is for the raw file; `error` is empty when the call succeeded.

    `flaw` says why a call that succeeded brought no answer. Rates are tokens per second: the server's own where the
    protocol has them.
    """

    raw: Any
    error: str = ""
    text: str = ""
    reasoning: str = ""
    refusal: str | None = None
    finish_reason: str | None = None
    ttft_s: float | None = None
    usage: Usage = field(default_factory=Usage)
    prefill_tps: float | None = None
    decode_tps: float | None = None
    backend: dict[str, Any] = field(default_factory=dict)
    flaw: str = ""
    warnings: tuple[str, ...] = ()


def load(name: str) -> ModuleType:
    """The module of an adapter by its name in the configuration."""
    return importlib.import_module(f"regrade.models.adapters.{name.replace('-', '_')}")
