"""Asking a model over HTTP, with patience, and never twice for the same answer."""

import asyncio
import contextlib
import copy
import dataclasses
import logging
import time
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from regrade.models import message, openai_chat
from regrade.models.backoff import wait_before_retry
from regrade.models.connection import Connection
from regrade.models.keys import read_key
from regrade.models.types import ChatRequest, ChatResponse, ModelConfig, ProviderError, Timing, Usage
from regrade.models.usage import prompt_warnings
from regrade.store import Store, request_digest

_LOG = logging.getLogger("regrade.models")
_FINAL = ("auth", "quota")
_WORTH_SAYING_S = 5.0


@asynccontextmanager
async def open_client(model: ModelConfig, store: Store, threads: int = 1) -> AsyncIterator["Client"]:
    """A client for one model. Raises RegradeError if the key's environment variable is not set.

    `threads` are those of an embedded model, which starts when the first answer is missing in the store.
    """
    client = Client(model, store, read_key(model) if store.mode != "only" else None, threads)
    try:
        yield client
    finally:
        await client.close()


class Client:
    """Asks one model; made by `open_client`."""

    def __init__(self, model: ModelConfig, store: Store, key: str | None, threads: int) -> None:
        self.model = model
        self._connection = Connection(model, key, threads)
        self._store = store
        # llama.cpp takes one request at a time: waiting in line here keeps the wait out of the timings.
        self._line = asyncio.Semaphore(1) if model.runtime is not None else contextlib.nullcontext()
        self._asking: weakref.WeakValueDictionary[tuple[str, int], asyncio.Lock] = weakref.WeakValueDictionary()
        self._refused: list[str] = []
        self._final: ProviderError | None = None

    async def close(self) -> None:
        """Close connections and end an embedded model."""
        await self._connection.close()

    def digest(self, request: ChatRequest) -> str:
        """The digest under which the store keeps a request's responses."""
        return request_digest(self._connection.endpoint, openai_chat.build_body(self.model, request))

    async def complete(self, request: ChatRequest, repetition: int = 1) -> ChatResponse:
        """One answer, from the store or from the model. Raises ProviderError, or StoreError (a miss, a full disk)."""
        body = openai_chat.build_body(self.model, request)
        digest = request_digest(self._connection.endpoint, body)
        lock = self._asking.setdefault((digest, repetition), asyncio.Lock())
        async with lock:
            kept = self._store.response(digest, repetition)
            if kept is None:
                response = await self._ask(body)
                about = {"endpoint": self._connection.endpoint, "model": self.model.model, "repetition": repetition}
                self._store.remember_response(digest, repetition, _to_kept(response), about)
            else:
                response = _from_kept(kept, body)
        return self._finished(dataclasses.replace(response, digest=digest))

    def _finished(self, response: ChatResponse) -> ChatResponse:
        if not self.model.strip_thinking:
            return response
        text, thought = message.strip_thinking(response.text)
        reasoning = "\n".join(part for part in (response.reasoning, thought) if part)
        return dataclasses.replace(response, text=text, reasoning=reasoning)

    async def _ask(self, body: dict[str, Any]) -> ChatResponse:
        """Attempts until one answers; all time but that one's is waiting."""
        begin = time.perf_counter()
        attempts, retries, slept = 0, 0, 0.0
        while True:
            if self._final is not None:
                raise self._again(self._final)
            attempts += 1
            dropped = openai_chat.dropped(body, self._refused)
            sent = openai_chat.without(body, dropped)
            async with self._line:
                started = time.perf_counter()
                try:
                    response = await self._connection.attempt(sent)
                except ProviderError as error:
                    failure = error
                else:
                    waiting_s = round(started - begin, 6)
                    break
            if failure.kind == "parameter" and failure.parameter in sent:
                self._refused.append(failure.parameter)
                continue
            wait = wait_before_retry(self.model, failure, retries, slept)
            if wait is None:
                raise self._ended(failure, attempts, time.perf_counter() - begin)
            retries += 1
            slept += wait
            await self._wait(failure, wait)
        return dataclasses.replace(
            response,
            timing=dataclasses.replace(response.timing, waiting_s=waiting_s),
            request_body=sent,
            dropped_parameters=dropped,
            warnings=openai_chat.drop_warnings(dropped) + prompt_warnings(body["messages"], response.usage),
            attempts=attempts,
        )

    async def _wait(self, failure: ProviderError, seconds: float) -> None:
        if seconds >= _WORTH_SAYING_S:
            why = "its rate limit" if failure.kind == "rate_limited" else failure.kind
            _LOG.warning("model %s: waiting %.0f s for %s", self.model.name, seconds, why)
        await asyncio.sleep(seconds)

    def _again(self, final: ProviderError) -> ProviderError:
        error = copy.copy(final)
        error.attempts = 0
        return error

    def _ended(self, failure: ProviderError, attempts: int, spent_s: float) -> ProviderError:
        """The error to raise in the end; one that holds for every request is kept, and nothing is asked any more."""
        failure.attempts = attempts
        failure.waiting_s = spent_s if attempts > 1 else 0.0
        limit = self.model.retry_wait_limit_s
        if failure.retry_after_s is not None and failure.retry_after_s > limit:
            failure.what += f"; Retry-After is {failure.retry_after_s:.0f} s, retry_wait_limit_s {limit:.0f} s"
        if failure.kind in _FINAL:
            self._final = failure
        return failure


def _to_kept(response: ChatResponse) -> dict[str, Any]:
    """What the store keeps: everything but what the request or this call says again."""
    kept = dataclasses.asdict(response)
    for name in ("request_body", "cached", "digest"):
        del kept[name]
    return kept


def _from_kept(kept: dict[str, Any], body: dict[str, Any]) -> ChatResponse:
    sent = openai_chat.without(body, kept["dropped_parameters"])
    usage, timing = Usage(**kept.pop("usage")), Timing(**kept.pop("timing"))
    return ChatResponse(**kept, usage=usage, timing=timing, request_body=sent, cached=True)
