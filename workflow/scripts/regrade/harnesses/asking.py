"""What the harnesses that ask a model share: the client, the raw files, and what an answer hints at."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regrade import files
from regrade.harnesses import Context
from regrade.models.types import ChatResponse, ModelConfig
from regrade.store import Store

if TYPE_CHECKING:
    from regrade.models.client import Client


@asynccontextmanager
async def client_of(context: Context) -> AsyncIterator["Client"]:
    """The client of the trial's model, with the response store of the configuration behind it."""
    from regrade.models.client import open_client

    async with open_client(model_of(context), store_of(context), threads=1) as client:
        yield client


def store_of(context: Context) -> Store:
    """The response store, in the mode that the configuration says."""
    return Store(context.config.folder("results") / "cache", context.config.cache)


def model_of(context: Context) -> ModelConfig:
    """The model as its entry says, with the request that the plan made of it."""
    asked = context.spec["model"]
    entry = {key: value for key, value in context.config.models[asked["name"]].items() if key != "max_concurrency"}
    return ModelConfig.from_config(asked["name"], {**entry, "request": asked["request"]})


def hint(response: ChatResponse) -> tuple[str, str]:
    """The reason and the message that an answer suggests should its trial fail; two empty texts for none."""
    if response.declined:
        return "refusal", response.refusal or "the provider's filter ended the answer"
    if response.truncated:
        return "truncated", f"the answer hit the token limit after {response.usage.output} tokens"
    if response.empty_content:
        thought = ", only reasoning" if response.reasoning else ""
        return "no_response", f"the answer has no text{thought} (finish_reason {response.finish_reason!r})"
    return "", ""


def response_value(response: ChatResponse) -> dict[str, Any]:
    """An answer as it stands in a raw file."""
    return {
        "text": response.text,
        "reasoning": response.reasoning,
        "tool_calls": response.tool_calls,
        "finish_reason": response.finish_reason,
        "http_status": response.http_status,
        "attempts": response.attempts,
        "cached": response.cached,
        "dropped_parameters": response.dropped_parameters,
        "warnings": response.warnings,
        "timing": vars(response.timing),
        "usage": vars(response.usage),
        "body": response.raw,
    }


def write_raw(request_path: Path, response_path: Path, response: ChatResponse) -> None:
    """The request as it was really sent, and the answer, as two files."""
    files.write_json(request_path, response.request_body)
    files.write_json(response_path, response_value(response))
