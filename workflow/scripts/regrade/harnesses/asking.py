"""What the harnesses that ask a model share: the client, the raw files, and what an answer hints at."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regrade import files
from regrade.errors import NotApplicable
from regrade.harnesses import Acted, Context
from regrade.models.protocols import CONVERSATIONS
from regrade.models.types import ChatRequest, ChatResponse, ModelConfig
from regrade.spending import Spending
from regrade.store import Store, require_room

if TYPE_CHECKING:
    from regrade.models.client import Client


class Asker:
    """Asks the trial's model, or the store, and notes in `acted` what each answer took."""

    def __init__(self, context: Context, acted: Acted, client: "Client", runner: asyncio.Runner) -> None:
        self._context = context
        self._acted = acted
        self._client = client
        self._runner = runner

    def digest(self, request: ChatRequest) -> str:
        """The digest under which the store keeps answers to a request."""
        return self._client.digest(request)

    def ask(self, request: ChatRequest) -> ChatResponse:
        """The answer. Raises ProviderError, StoreError, or SandboxError when the disk is all but full."""
        if self._context.config.cache != "only":
            require_room(self._context.workspace)
        response = self._runner.run(self._client.complete(request, self._context.spec["repetition"]))
        self._acted.responses.append(response)
        self._acted.wall_s += response.timing.wall_s
        return response


@contextmanager
def asker(context: Context, acted: Acted, store: Store) -> Iterator[Asker]:
    """Somebody to ask while the block lasts. Code between two questions runs outside of any event loop, so that
    Ctrl-C ends it at once."""
    import uvloop

    from regrade.models.client import open_client

    if context.spec["model"]["adapter"] not in CONVERSATIONS:
        raise NotApplicable(
            f"model {context.spec['model']['name']}: its adapter is {context.spec['model']['adapter']}, and harness "
            f"{context.spec['harness']} speaks {', '.join(CONVERSATIONS)}: use the server's address for one, or packs"
        )
    spending = Spending(context.config.folder("results") / "cache" / "spending", context.config.budget_usd)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        stack = AsyncExitStack()
        opened = open_client(model_of(context), store, threads=1, spending=spending)
        client = runner.run(stack.enter_async_context(opened))
        try:
            yield Asker(context, acted, client, runner)
        finally:
            runner.run(stack.aclose())


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
        tokens = "" if response.usage.output is None else f" after {response.usage.output} tokens"
        thought = ", all of them reasoning" if response.empty_content and response.reasoning else ""
        return "truncated", f"the answer hit the token limit{tokens}{thought}"
    if response.empty_content:
        thought = ", only reasoning" if response.reasoning else ""
        return "no_response", f"the answer has no text{thought} (finish_reason {response.finish_reason!r})"
    return "", ""


def over_budget(context: Context, worked_s: float) -> tuple[str, str]:
    """The reason and the message when an enforced max_wall_seconds is used up; two empty texts otherwise."""
    seconds = context.enforced("max_wall_seconds")
    if seconds and worked_s >= seconds:
        return "budget_exceeded", f"max_wall_seconds = {seconds:g} s: ended after {worked_s:.1f} s of work"
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
