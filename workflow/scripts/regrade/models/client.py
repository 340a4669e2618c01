"""Asking a model over HTTP, with patience, and never twice for the same answer."""

import asyncio
import contextlib
import copy
import dataclasses
import errno
import json
import logging
import os
import time
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from regrade.errors import RegradeError
from regrade.models import embedded, failures, message, openai_chat
from regrade.models.backoff import wait_before_retry
from regrade.models.redaction import Secrets, clean_url
from regrade.models.types import ChatRequest, ChatResponse, ModelConfig, ProviderError, Timing, Usage
from regrade.models.usage import prompt_warnings
from regrade.store import Store, request_digest

if TYPE_CHECKING:
    import aiohttp

_LOG = logging.getLogger("regrade.models")
_FINAL = ("auth", "quota")
_WORTH_SAYING_S = 5.0


@asynccontextmanager
async def open_client(model: ModelConfig, store: Store, threads: int = 1) -> AsyncIterator["Client"]:
    """A client for one model. Raises RegradeError if the key's environment variable is not set.

    `threads` are those of an embedded model, which starts when the first answer is missing in the store.
    """
    client = Client(model, store, _read_key(model) if store.mode != "only" else None, threads)
    try:
        yield client
    finally:
        await client.close()


def _read_key(model: ModelConfig) -> str | None:
    if model.api_key_env is None:
        return None
    key = os.environ.get(model.api_key_env, "").strip()
    if not key:
        raise RegradeError(
            f"model {model.name}: the environment variable {model.api_key_env}, which api_key_env names, is not set: "
            f"put the API key into it (export {model.api_key_env}=...) or take api_key_env out of config/models.yaml"
        )
    if not key.isascii() or not key.isprintable():
        raise RegradeError(f"model {model.name}: the key in {model.api_key_env} holds characters that no header can")
    return key


class Client:
    """Asks one model; made by `open_client`."""

    def __init__(self, model: ModelConfig, store: Store, key: str | None, threads: int) -> None:
        self.model = model
        self.endpoint = embedded.endpoint(model.runtime) if model.runtime is not None else clean_url(model.base_url)
        self._store = store
        self._key = key
        self._threads = threads
        self._secrets = Secrets(key, model.base_url)
        self._url = openai_chat.chat_url(model.base_url) if model.runtime is None else ""
        self._shown_url = clean_url(self._url) if self._url else self.endpoint
        self._cleanup = contextlib.AsyncExitStack()
        self._starting = asyncio.Lock()
        self._session: aiohttp.ClientSession | None = None
        # llama.cpp takes one request at a time: waiting in line here keeps the wait out of the timings.
        self._line = asyncio.Semaphore(1) if model.runtime is not None else contextlib.nullcontext()
        self._asking: weakref.WeakValueDictionary[tuple[str, int], asyncio.Lock] = weakref.WeakValueDictionary()
        self._refused: list[str] = []
        self._final: ProviderError | None = None

    async def close(self) -> None:
        """Close connections and end an embedded model."""
        await self._cleanup.aclose()

    def digest(self, request: ChatRequest) -> str:
        """The digest under which the store keeps a request's responses."""
        return request_digest(self.endpoint, openai_chat.build_body(self.model, request))

    async def complete(self, request: ChatRequest, repetition: int = 1) -> ChatResponse:
        """One answer, from the store or from the model. Raises ProviderError, or StoreError (a miss, a full disk)."""
        body = openai_chat.build_body(self.model, request)
        digest = request_digest(self.endpoint, body)
        lock = self._asking.setdefault((digest, repetition), asyncio.Lock())
        async with lock:
            kept = self._store.response(digest, repetition)
            if kept is None:
                response = await self._ask(body)
                about = {"endpoint": self.endpoint, "model": self.model.model, "repetition": repetition}
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
                    response = await self._attempt(sent)
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

    async def _attempt(self, body: dict[str, Any]) -> ChatResponse:
        import aiohttp

        session = await self._open_session()
        begin = time.perf_counter()
        try:
            return await self._post(session, body, begin)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._transport_error(error, time.perf_counter() - begin) from error

    async def _post(self, session: "aiohttp.ClientSession", body: dict[str, Any], begin: float) -> ChatResponse:
        import aiohttp

        headers = {"Content-Type": "application/json", "User-Agent": "regrade"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        ttft_s = None
        data = json.dumps(body).encode()
        async with session.post(self._url, data=data, headers=headers, allow_redirects=False) as reply:
            if not 200 <= reply.status < 300:
                sent = openai_chat.droppable(body)
                start = await _beginning(reply)
                raise failures.from_status(self._shown_url, reply.status, reply.headers, start, sent, self._secrets)
            reader = openai_chat.ReplyReader(reply.content_type)
            cut = False
            try:
                async for chunk in reply.content.iter_any():
                    reader.feed(chunk)
                    if ttft_s is None and reader.started:
                        ttft_s = time.perf_counter() - begin
                    if reader.done:
                        break
            except (aiohttp.ClientPayloadError, aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                cut = True
            except openai_chat.BadReply as bad:
                raise self._bad_reply(bad, reader) from bad
            wall_s = time.perf_counter() - begin
            await self._drain(reply)
        try:
            answer, raw = reader.finish()
        except openai_chat.BadReply as bad:
            raise self._bad_reply(bad, reader, cut) from bad
        values = self._secrets.redact_value({**vars(answer), "usage": None, "raw": raw})
        values["usage"] = answer.usage
        timing = Timing(round(wall_s, 6), None if ttft_s is None else round(ttft_s, 6))
        return ChatResponse(**values, timing=timing, http_status=reply.status)

    async def _drain(self, reply: "aiohttp.ClientResponse") -> None:
        """Read what follows the last event, so that the connection serves again; not for long."""
        import aiohttp

        if not reply.content.at_eof():
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(0.5):
                    await reply.content.read(1 << 16)

    def _bad_reply(
        self, bad: openai_chat.BadReply, reader: openai_chat.ReplyReader, cut: bool = False
    ) -> ProviderError:
        kind = "stream_cut" if cut and bad.kind == "bad_body" else bad.kind
        what = "the connection ended before the reply was whole" if cut and kind == "stream_cut" else str(bad)
        return failures.from_reply(self._shown_url, kind, what, bad.error, reader.beginning, self._secrets)

    def _transport_error(self, error: Exception, seconds: float) -> ProviderError:
        kind, what, retryable = _transport_kind(error, self.model)
        what = f"{what}, after {seconds:.2f} s"
        return ProviderError(kind, self._shown_url, self._secrets.excerpt(what), retryable=retryable)

    async def _open_session(self) -> "aiohttp.ClientSession":
        import aiohttp

        async with self._starting:
            if self._session is None:
                if self.model.runtime is not None:
                    base_url = await self._serve(self.model.runtime)
                    self._url = openai_chat.chat_url(base_url)
                limits = aiohttp.ClientTimeout(
                    total=self.model.total_timeout_s,
                    connect=self.model.connect_timeout_s,
                    sock_connect=self.model.connect_timeout_s,
                    sock_read=self.model.read_timeout_s,
                )
                session = aiohttp.ClientSession(
                    timeout=limits, connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar()
                )
                self._session = await self._cleanup.enter_async_context(session)
        return self._session

    async def _serve(self, runtime: dict[str, Any]) -> str:
        server = embedded.serve(runtime, self._threads)
        address = await asyncio.to_thread(server.__enter__)
        self._cleanup.push_async_callback(asyncio.to_thread, server.__exit__, None, None, None)
        return address


async def _beginning(reply: "aiohttp.ClientResponse") -> bytes:
    """Up to 64 KB of an error's body, or what came of it."""
    import aiohttp

    start = bytearray()
    with contextlib.suppress(aiohttp.ClientPayloadError, aiohttp.ClientOSError):
        while len(start) < 1 << 16 and (chunk := await reply.content.read(1 << 16)):
            start += chunk
    return bytes(start)


def _transport_kind(error: Exception, model: ModelConfig) -> tuple[str, str, bool]:
    """Kind, description, and whether another try makes sense."""
    import aiohttp

    if isinstance(error, aiohttp.ConnectionTimeoutError):
        limit = f"connect_timeout_s: {model.connect_timeout_s:g}"
        return "timeout_connect", f"no connection within the limit ({limit})", True
    if isinstance(error, aiohttp.ServerTimeoutError):
        return "timeout_read", f"no data within the limit (read_timeout_s: {model.read_timeout_s:g})", True
    if isinstance(error, TimeoutError):
        return "timeout_total", f"no whole answer within the limit (total_timeout_s: {model.total_timeout_s:g})", True
    if isinstance(error, aiohttp.ClientSSLError):
        return "tls", f"no secure connection: {error}", False
    if isinstance(error, aiohttp.ClientConnectorError):
        if error.os_error.errno == errno.ECONNREFUSED:
            return "refused", "the connection was refused: does the server run there?", True
        return "unreachable", f"the server cannot be reached: {error.os_error}", True
    return "stream_cut", f"the connection broke: {error or type(error).__name__}", True


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
