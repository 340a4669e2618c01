"""How honest a measured call is: Regrade's adapter against a bare socket client, on the same local server.

    python benchmarks/measuring.py [CALLS]

The server answers with an event stream that has no network in between. Against a server with the pace of a model (a
first piece after 50 ms, then one every 5 ms) both clients should see the same time to the first token and the same
decode rate; against one that does not pause at all, what Regrade measures beyond the bare client is its own share.
The two clients take turns, so that whatever else the machine does meets both. Prints a Markdown table.
"""

import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow/scripts"))

from regrade.models.adapters.caller import open_caller, question_for
from regrade.models.types import ModelConfig

PIECES = 100
FIRST_S, EACH_S = 0.05, 0.005
USAGE = {"prompt_tokens": 50, "completion_tokens": PIECES}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Times(NamedTuple):
    """Seconds of one call, and tokens per second behind its first."""

    ttft_s: float
    wall_s: float

    @property
    def decode_tps(self) -> float:
        return PIECES / (self.wall_s - self.ttft_s)


def serve(first_s: float, each_s: float) -> None:
    """Answer one connection after the other, for ever; prints the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    content = [event({"choices": [{"index": 0, "delta": {"content": "word "}}]}) for _ in range(PIECES)]
    last = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    last += event({"choices": [], "usage": USAGE}) + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            take_request(connection)
            due = time.perf_counter() + first_s
            connection.sendall(HEAD)
            for piece in content:
                wait_until(due)
                connection.sendall(piece)
                due += each_s
            connection.sendall(last)


def wait_until(due: float) -> None:
    left = due - time.perf_counter()
    if left > 0:
        time.sleep(left)


def event(value: object) -> bytes:
    return chunk(f"data: {json.dumps(value)}\n\n".encode())


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def take_request(connection: socket.socket) -> None:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, body = received.split(b"\r\n\r\n", 1)
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += connection.recv(65536)


def bare_call(port: int, body: bytes) -> Times:
    """The least that a client can do: connect, send, look for the first words, read to the end."""
    request = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request += f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    begin = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(request)
        ttft_s, tail = 0.0, b""
        while True:
            tail = tail[-16:] + connection.recv(65536)
            now = time.perf_counter() - begin
            if not ttft_s and b'"content"' in tail:
                ttft_s = now
            if b"[DONE]" in tail:
                return Times(ttft_s, now)


def measured_call(model: ModelConfig) -> tuple[Times, bytes]:
    """The same through Regrade, and the body that it sent."""
    with open_caller(model, threads=1) as caller:
        exchange = caller.ask(question_for(model, "What is the capital of France?", {"stream": True}))
    assert exchange.reading.ttft_s is not None, exchange.reading.error
    assert exchange.reading.usage.output == PIECES
    return Times(exchange.reading.ttft_s, exchange.wall_s), json.dumps(exchange.request).encode()


def against(first_s: float, each_s: float, calls: int) -> tuple[list[Times], list[Times]]:
    """Calls of both clients to a server of some pace: (bare, ours)."""
    words = [sys.executable, __file__, "serve", str(first_s), str(each_s)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        model = ModelConfig("measured", "m", f"http://127.0.0.1:{port}")
        _, body = measured_call(model)
        bare_call(port, body)
        bare, ours = [], []
        for _ in range(calls):
            bare.append(bare_call(port, body))
            ours.append(measured_call(model)[0])
        server.kill()
    return bare, ours


def rows(pace: str, bare: list[Times], ours: list[Times], target: str) -> list[str]:
    """The medians of both clients and how they differ."""

    def line(name: str, value: Callable[[Times], float], form: str) -> str:
        one, other = (statistics.median(map(value, times)) for times in (bare, ours))
        return f"| {pace} | {name} | {one:{form}} | {other:{form}} | {other / one - 1:+.2%} | {target} |"

    return [
        line("ttft_s", lambda times: times.ttft_s, ".6f"),
        line("decode_tps", lambda times: times.decode_tps, ".1f"),
    ]


def main(calls: int) -> None:
    """Measure and print."""
    paced, instant = against(FIRST_S, EACH_S, calls), against(0, 0, 10 * calls)
    share = statistics.median(ours.wall_s - bare.wall_s for bare, ours in zip(*instant, strict=True))
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, ",
        end="",
    )
    print(f"medians of {calls} calls at a model's pace and {10 * calls} without pauses\n")
    print("| server | measure | bare socket | regrade | difference | target |\n| --- | --- | --- | --- | --- | --- |")
    print("\n".join(rows("50 ms, then 5 ms a piece", *paced, "within 2 %")))
    print(f"| no pauses | wall_s beyond the bare client | - | {share * 1000:.3f} ms | - | under 2 ms |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(*map(float, sys.argv[2:4]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 20)
