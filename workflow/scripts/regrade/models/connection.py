"""One attempt to get an answer over HTTP."""

import asyncio
import contextlib
import errno
import json
import time
from typing import TYPE_CHECKING, Any

from regrade.models import embedded, failures
from regrade.models.keys import request_headers
from regrade.models.protocols import Conversation
from regrade.models.reading import BadReplyError, Raw, ReplyReader, without_key
from regrade.models.redaction import Secrets, clean_url
from regrade.models.types import Answer, ChatResponse, ModelConfig, ProviderError, Timing

if TYPE_CHECKING:
    import aiohttp


class Connection:
    """The way to one model's server, or to an embedded model, which starts with the first attempt."""

    def __init__(self, model: ModelConfig, protocol: Conversation, key: str | None, threads: int) -> None:
        self.endpoint = _endpoint(model, protocol)
        self._model = model
        self._protocol = protocol
        self._headers = request_headers(key)
        self._threads = threads
        self._secrets = Secrets(key, model.base_url)
        self._url = protocol.url(model.base_url) if model.runtime is None else ""
        self._shown_url = clean_url(self._url) or self.endpoint
        self._cleanup = contextlib.AsyncExitStack()
        self._starting = asyncio.Lock()
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close what is open and end an embedded model."""
        await self._cleanup.aclose()

    async def attempt(self, body: dict[str, Any]) -> ChatResponse:
        """The answer to a body. Raises ProviderError."""
        import aiohttp

        session = await self._open_session()
        begin = time.perf_counter()
        try:
            return await self._post(session, body, begin)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise self._transport_error(error, time.perf_counter() - begin) from error

    async def _post(self, session: "aiohttp.ClientSession", body: dict[str, Any], begin: float) -> ChatResponse:
        import aiohttp

        ttft_s = None
        data = json.dumps(body).encode()
        async with session.post(self._url, data=data, headers=self._headers, allow_redirects=False) as reply:
            if not 200 <= reply.status < 300:
                sent = self._protocol.droppable(body)
                start = await _beginning(reply)
                raise failures.from_status(self._shown_url, reply.status, reply.headers, start, sent, self._secrets)
            reader = self._protocol.reader(reply.content_type)
            wall_s = time.perf_counter() - begin
            cut = False
            try:
                async for chunk in reply.content.iter_any():
                    reader.feed(chunk)
                    wall_s = time.perf_counter() - begin
                    if ttft_s is None and reader.started:
                        ttft_s = wall_s
                    if reader.done:
                        break
            except BadReplyError as bad:
                raise self._bad_reply(bad, reader, cut) from bad
            except (aiohttp.ClientPayloadError, aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                cut = True
            except TimeoutError:
                # A server that ends its answer and then neither speaks nor hangs up has answered.
                if not reader.answered:
                    raise
            await self._drain(reply)
        try:
            answer, raw = reader.finish()
        except BadReplyError as bad:
            raise self._bad_reply(bad, reader, cut) from bad
        if self._secrets.any:
            answer, raw = self._redacted(answer, raw)
        timing = Timing(round(wall_s, 6), None if ttft_s is None else round(ttft_s, 6))
        return ChatResponse(**vars(answer), raw=raw, timing=timing, http_status=reply.status)

    def _redacted(self, answer: Answer, raw: Raw) -> tuple[Answer, Raw]:
        """Both without a key that the server may have echoed, and still saying the same."""
        clean = Answer(**{name: self._secrets.redact_value(value) for name, value in vars(answer).items()})
        clean_raw = self._secrets.redact_value(raw)
        if clean == answer and clean_raw == raw:
            return answer, raw
        try:
            same = self._protocol.answer_of(clean_raw) == clean
        except BadReplyError:
            same = False
        # A key that came in pieces is whole in the answer alone.
        return clean, clean_raw if same else without_key(clean)

    async def _drain(self, reply: "aiohttp.ClientResponse") -> None:
        """Read what follows the last event, so that the connection serves again; not for long."""
        import aiohttp

        if not reply.content.at_eof():
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                async with asyncio.timeout(0.5):
                    await reply.content.read(1 << 16)

    def _bad_reply(self, bad: BadReplyError, reader: ReplyReader, cut: bool) -> ProviderError:
        kind = "stream_cut" if cut and bad.kind == "bad_body" else bad.kind
        what = "the connection ended before the reply was whole" if cut and kind == "stream_cut" else str(bad)
        return failures.from_reply(self._shown_url, kind, what, bad.error, reader.beginning, self._secrets)

    def _transport_error(self, error: Exception, seconds: float) -> ProviderError:
        kind, what, retryable = _transport_kind(error, self._model)
        what = f"{what}, after {seconds:.2f} s"
        return ProviderError(kind, self._shown_url, self._secrets.excerpt(what), retryable=retryable)

    async def _open_session(self) -> "aiohttp.ClientSession":
        if self._session is not None:
            return self._session
        import aiohttp

        async with self._starting:
            if self._session is None:
                if self._model.runtime is not None:
                    base_url = await self._serve(self._model.runtime)
                    self._url = self._protocol.url(base_url)
                limits = aiohttp.ClientTimeout(
                    total=self._model.total_timeout_s,
                    connect=self._model.connect_timeout_s,
                    sock_connect=self._model.connect_timeout_s,
                    sock_read=self._model.read_timeout_s,
                )
                # llama.cpp closes a connection behind its answer without saying so; usual servers after five seconds.
                if self._model.runtime is not None:
                    connector = aiohttp.TCPConnector(limit=0, force_close=True)
                else:
                    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=4)
                session = aiohttp.ClientSession(
                    timeout=limits, connector=connector, cookie_jar=aiohttp.DummyCookieJar()
                )
                self._session = await self._cleanup.enter_async_context(session)
        return self._session

    async def _serve(self, runtime: dict[str, Any]) -> str:
        server = embedded.serve(runtime, self._threads)
        address = await asyncio.to_thread(server.__enter__)
        self._cleanup.push_async_callback(asyncio.to_thread, server.__exit__, None, None, None)
        return address


def _endpoint(model: ModelConfig, protocol: Conversation) -> str:
    """What stands for the server in digests and records: no key, and nothing of this machine."""
    if model.runtime is not None:
        return embedded.endpoint(model.runtime)
    # Chat completions came first, so their stored answers bear the base address alone.
    return clean_url(model.base_url if model.adapter == "openai-chat" else protocol.url(model.base_url))


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
