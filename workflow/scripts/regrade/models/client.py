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

from regrade.models import message, parameters, prices, protocols
from regrade.models.backoff import wait_before_retry
from regrade.models.connection import Connection
from regrade.models.keys import read_key
from regrade.models.reading import BadReplyError
from regrade.models.types import ChatRequest, ChatResponse, ModelConfig, ProviderError, Timing, Usage
from regrade.models.usage import prompt_warnings
from regrade.spending import Spending
from regrade.store import Store, StoreError, request_digest

_LOG = logging.getLogger("regrade.models")
_FINAL = ("auth", "quota")
_WORTH_SAYING_S = 5.0
_KEPT = ("raw", "dropped_parameters", "warnings", "attempts", "http_status")


@asynccontextmanager
async def open_client(
    model: ModelConfig, store: Store, threads: int = 1, spending: Spending | None = None
) -> AsyncIterator["Client"]:
    """A client for one model. Raises RegradeError if the key's environment variable is not set.

    `threads` are those of an embedded model, which starts when the first answer is missing in the store. With
    `spending` nothing is asked once its limit is reached.
    """
    client = Client(model, store, read_key(model) if store.mode != "only" else None, threads, spending)
    try:
        yield client
    finally:
        await client.close()


class Client:
    """Asks one model; made by `open_client`. Any number of tasks of one event loop may share it."""

    def __init__(
        self, model: ModelConfig, store: Store, key: str | None, threads: int, spending: Spending | None = None
    ) -> None:
        self.model = model
        self._protocol = protocols.of(model.adapter)
        self._connection = Connection(model, self._protocol, key, threads)
        self._store = store
        self._spending = spending if prices.can_cost(model.prices) else None
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
        return request_digest(self._connection.endpoint, self._protocol.build_body(self.model, request))

    async def complete(self, request: ChatRequest, repetition: int = 1, digest: str = "") -> ChatResponse:
        """One answer, from the store or from the model. `digest` is the request's, from whoever has it already.

        Raises ProviderError, StoreError (a miss, a full disk), BudgetSpent, or NotApplicable (the protocol cannot say
        it).
        """
        body = self._protocol.build_body(self.model, request)
        digest = digest or request_digest(self._connection.endpoint, body)
        lock = self._asking.setdefault((digest, repetition), asyncio.Lock())
        async with lock:
            kept = self._store.response(digest, repetition)
            if kept is None:
                response = await self._ask(request, body, digest)
                about = {"endpoint": self._connection.endpoint, "model": self.model.model, "repetition": repetition}
                self._store.remember_response(digest, repetition, _to_kept(response), about)
            else:
                response = self._from_kept(kept, body, digest)
        return self._finished(response)

    def _finished(self, response: ChatResponse) -> ChatResponse:
        if not self.model.strip_thinking:
            return response
        text, thought = message.strip_thinking(response.text)
        reasoning = "\n".join(part for part in (response.reasoning, thought) if part)
        return dataclasses.replace(response, text=text, reasoning=reasoning)

    def _from_kept(self, kept: dict[str, Any], body: dict[str, Any], digest: str) -> ChatResponse:
        sent = parameters.without(body, kept["dropped_parameters"], self._protocol.RENAMED)
        kept["timing"] = Timing(**kept["timing"])
        if "text" in kept:
            # Entries of the first form hold the answer beside its raw reply.
            kept["usage"] = Usage(**kept["usage"])
        else:
            try:
                kept |= vars(self._protocol.answer_of(kept["raw"]))
            except BadReplyError as bad:
                raise StoreError(f"the response that is stored for request {digest} cannot be read: {bad}") from bad
        return ChatResponse(**kept, request_body=sent, cached=True, digest=digest)

    async def _ask(self, request: ChatRequest, body: dict[str, Any], digest: str) -> ChatResponse:
        """Attempts until one answers; all time but that one's is waiting."""
        begin = time.perf_counter()
        attempts, retries, slept = 0, 0, 0.0
        while True:
            if self._final is not None:
                raise self._again(self._final)
            dropped = parameters.dropped(body, self._refused, self._protocol.RENAMED) if self._refused else []
            sent = parameters.without(body, dropped, self._protocol.RENAMED)
            async with self._line, self._paying() as paid:
                attempts += 1
                started = time.perf_counter()
                try:
                    response = await self._connection.attempt(sent)
                except ProviderError as error:
                    failure = error
                else:
                    paid.append(response.usage)
                    break
            if failure.kind == "parameter" and failure.parameter in self._protocol.droppable(sent):
                if failure.parameter not in self._refused:
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
            timing=Timing(response.timing.wall_s, response.timing.ttft_s, round(started - begin, 6)),
            request_body=sent,
            dropped_parameters=dropped,
            warnings=parameters.drop_warnings(dropped, self._protocol.RENAMED)
            + prompt_warnings(request.messages, response.usage),
            attempts=attempts,
            digest=digest,
        )

    @asynccontextmanager
    async def _paying(self) -> AsyncIterator[list[Usage]]:
        """Lets an attempt through when there is money for it, and notes what the usage that it put down cost."""
        paid: list[Usage] = []
        if self._spending is None:
            yield paid
            return
        await self._spending.admit(self.model.name)
        try:
            yield paid
        finally:
            cost = prices.cost_usd(self.model.prices, paid[0]) if paid else 0.0
            self._spending.settle(self.model.name, cost)

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
    """What the store keeps: how the call went and the raw reply, which says all the rest again."""
    kept = {name: getattr(response, name) for name in _KEPT}
    return {**kept, "timing": vars(response.timing)}
