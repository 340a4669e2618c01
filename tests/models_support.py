"""Asking a scripted server through the real client."""

from pathlib import Path
from typing import Any

from chat_server import ChatServer
from regrade.models.client import open_client
from regrade.models.run import run
from regrade.models.types import ChatRequest, ChatResponse, ModelConfig, ProviderError
from regrade.store import Store

QUICK = {"retry_wait_s": 0.001, "connect_timeout_s": 2, "read_timeout_s": 5, "total_timeout_s": 10}
HELLO = ChatRequest([{"role": "user", "content": "hello"}])


def model(base_url: str, **entry: Any) -> ModelConfig:
    """A model entry with short waits."""
    return ModelConfig.from_config("tested", {"model": "m", "base_url": base_url, **QUICK, **entry})


def ask(
    config: ModelConfig, request: ChatRequest = HELLO, folder: Path | None = None, mode: str = "on", repetition: int = 1
) -> ChatResponse:
    """One answer through a client of its own."""

    async def complete() -> ChatResponse:
        async with open_client(config, Store(folder, mode)) as client:
            return await client.complete(request, repetition)

    return run(complete())


def ask_scripted(answers: list[dict[str, Any]], request: ChatRequest = HELLO, **entry: Any) -> ChatResponse:
    """One answer from a server with these answers."""
    with ChatServer(answers) as server:
        return ask(model(server.base_url, **entry), request)


def fail_scripted(
    answers: list[dict[str, Any]], request: ChatRequest = HELLO, **entry: Any
) -> tuple[ProviderError, int]:
    """The error that a server with these answers leads to, and how many requests it saw."""
    with ChatServer(answers) as server:
        try:
            response = ask(model(server.base_url, **entry), request)
        except ProviderError as error:
            return error, server.count
    raise AssertionError(f"expected a ProviderError, got {response}")
