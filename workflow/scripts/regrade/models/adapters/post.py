"""One HTTP call under a clock: no pool, no retry, no redirect, and nothing read from the bytes until it is over."""

import base64
import http.client
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

_LARGEST = 32 << 20
_PIECE = 1 << 16
_DRAIN_S = 0.5
_LAST_EVENTS = (b"\ndata: [DONE]", b"\ndata:[DONE]", b"\rdata: [DONE]", b"\rdata:[DONE]")


@dataclass
class Reply:
    """What came back, in seconds from the start of the call.

    `pieces` are the body's bytes and when they came, `wall_s` when it was over: at its end, or at the event [DONE].
    `failure` is what ended the call before the body was whole.
    """

    status: int | None = None
    content_type: str = ""
    pieces: list[tuple[float, bytes]] = field(default_factory=list)
    wall_s: float = 0.0
    failure: Exception | None = None

    @property
    def body(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)


def post(url: str, data: bytes, headers: Mapping[str, str], connect_s: float, total_s: float) -> Reply:
    """Send a body and take the reply. Whatever goes wrong on the way is the reply's `failure`."""
    reply = Reply()
    begin = time.perf_counter()
    try:
        call = _Call(url, connect_s)
        begin = time.perf_counter()
        call.run(reply, data, headers, begin, total_s)
    except (OSError, http.client.HTTPException, ValueError) as error:
        reply.failure = error
        reply.wall_s = time.perf_counter() - begin
    return reply


class _Call:
    """A connection of its own. Certificates are loaded before the clock starts."""

    def __init__(self, url: str, connect_s: float) -> None:
        parts = urlsplit(url)
        if parts.scheme == "https":
            context = ssl.create_default_context()
            self._connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.hostname or "", parts.port, timeout=connect_s, context=context
            )
        else:
            self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=connect_s)
        query = f"?{parts.query}" if parts.query else ""
        self._target = quote(f"{parts.path or '/'}{query}", safe="/?&=%:@!$'()*+,;~")
        self._login = _login(parts.username, parts.password)

    def run(self, reply: Reply, data: bytes, headers: Mapping[str, str], begin: float, total_s: float) -> None:
        """The call from connecting to the last byte."""
        try:
            self._connection.connect()
            self._socket = self._connection.sock
            self._bound(begin + total_s, total_s)
            self._connection.request("POST", self._target, data, {**self._login, **headers})
            with self._connection.getresponse() as response:
                reply.status = response.status
                reply.content_type = response.headers.get_content_type() if response.headers["Content-Type"] else ""
                self._receive(reply, response, begin, total_s)
        finally:
            self._connection.close()

    def _receive(self, reply: Reply, response: http.client.HTTPResponse, begin: float, total_s: float) -> None:
        until, size, tail, done = begin + total_s, 0, b"\n", False
        while True:
            try:
                self._bound(until, total_s)
                piece = response.read1(_PIECE)
            except OSError:
                # A server that has said [DONE] and then neither speaks nor hangs up has answered.
                if done:
                    return
                raise
            now = time.perf_counter() - begin
            if not done:
                reply.wall_s = now
            if not piece:
                break
            reply.pieces.append((now, piece))
            size += len(piece)
            if size > _LARGEST:
                raise ValueError(f"the reply is larger than {_LARGEST >> 20} MB")
            tail += piece
            if not done and any(mark in tail for mark in _LAST_EVENTS):
                done, until = True, min(until, time.perf_counter() + _DRAIN_S)
            tail = tail[-16:]
        if response.length and not done:
            raise http.client.IncompleteRead(b"", response.length)

    def _bound(self, until: float, total_s: float) -> None:
        """Let the next read wait no longer than what is left of the time."""
        left = until - time.perf_counter()
        if left <= 0:
            raise TimeoutError(f"no whole reply within total_timeout_s: {total_s:g}")
        self._socket.settimeout(left)


def _login(name: str | None, password: str | None) -> dict[str, str]:
    """The header for a user's name and password in the address."""
    if name is None:
        return {}
    text = f"{unquote(name)}:{unquote(password or '')}".encode()
    return {"Authorization": f"Basic {base64.b64encode(text).decode()}"}
