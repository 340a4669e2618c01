"""A real local HTTP server with scripted answers: for tests only. It speaks chat completions, Responses below
`/responses`, and Ollama's protocol below `/api/chat`.

    with ChatServer([{"text": "4"}, {"status": 429, "headers": {"Retry-After": "1"}}]) as server:
        server.base_url, server.count, server.requests

    python tests/chat_server.py --port 0 --answers FILE      prints its base URL's port; GET /count, GET /requests

The n-th request gets the n-th answer, later ones the last. An answer with `"when": TEXT` is only for requests whose
body holds the text; such answers come first and are not used up. Keys of an answer, all optional:

    text, reasoning, tool_calls, finish_reason, usage, model    a whole answer in the form that was asked for
    status, headers, body (text or JSON), content_type          a reply as it is
    chunks  list of texts or {"hex": ...}                       a body in pieces, one write each (event stream)
    delay_s, chunk_delay_s                                      waits before the reply, before each further chunk
    cut     true: the connection breaks before the body is whole
"""

import argparse
import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


def event(value: Any) -> str:
    """One server-sent event."""
    return f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n"


def delta(piece: dict[str, Any], finish_reason: str | None = None, **more: Any) -> str:
    """One chunk of a streamed answer as an event."""
    return event({"choices": [{"index": 0, "delta": piece, "finish_reason": finish_reason}], **more})


class ChatServer:
    """Serves while the block lasts."""

    def __init__(self, answers: list[dict[str, Any]] | None = None, port: int = 0) -> None:
        self._answers = list(answers or [{"text": "OK"}])
        self._lock = threading.Lock()
        self.requests: list[dict[str, Any]] = []
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.chat = self
        self.port = self._server.server_address[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"

    @property
    def count(self) -> int:
        """How many answers were asked for."""
        return len(self.requests)

    def __enter__(self) -> "ChatServer":
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def script(self, answers: list[dict[str, Any]]) -> None:
        """Answer with these from now on."""
        with self._lock:
            self._answers = list(answers)

    def serve_forever(self) -> None:
        """Serve in this thread, for ever."""
        self._server.serve_forever()

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[dict[str, Any], Any]:
        """Record a request; its scripted answer and its parsed body."""
        text = body.decode("utf-8", "replace")
        asked = json.loads(text) if text else {}
        with self._lock:
            self.requests.append({"path": path, "headers": headers, "body": asked, "at": time.time()})
            for answer in self._answers:
                if "when" in answer and answer["when"] in text:
                    return answer, asked
            plain = [answer for answer in self._answers if "when" not in answer]
            if len(plain) > 1:
                self._answers.remove(plain[0])
            return plain[0] if plain else {"status": 500, "body": "no answer is scripted for this"}, asked


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    chat: ChatServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        chat = self.server.chat
        value = {"/count": chat.count, "/requests": chat.requests}.get(self.path)
        self._whole(200 if value is not None else 404, {}, json.dumps(value).encode(), "application/json")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer, asked = self.server.chat.answer(self.path, dict(self.headers), body)
        time.sleep(answer.get("delay_s", 0))
        try:
            self._reply(answer, bool(asked.get("stream", self.path.endswith("/api/chat"))))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _reply(self, answer: dict[str, Any], streaming: bool) -> None:
        headers = answer.get("headers", {})
        if "body" in answer or ("status" in answer and "chunks" not in answer):
            content = answer.get("body", "")
            is_text = isinstance(content, str)
            kind = answer.get("content_type", "text/html" if is_text else "application/json")
            data = (content if is_text else json.dumps(content)).encode("utf-8", "surrogateescape")
            self._whole(answer.get("status", 200), headers, data, kind, cut=answer.get("cut", False))
        elif "chunks" in answer or streaming:
            pieces = answer.get("chunks") or self._form().as_events(answer)
            self._pieces(answer, headers, [_bytes(piece) for piece in pieces])
        else:
            body = json.dumps(self._form().as_body(answer)).encode()
            self._whole(200, headers, body, "application/json", answer.get("cut", False))

    def _form(self) -> "Form":
        path = self.path.partition("?")[0]
        return next((form for ending, form in FORMS.items() if path.endswith(ending)), CHAT)

    def _whole(self, status: int, headers: dict[str, str], data: bytes, kind: str, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) + (100 if cut else 0)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = self.close_connection or cut

    def _pieces(self, answer: dict[str, Any], headers: dict[str, str], pieces: list[bytes]) -> None:
        self.send_response(answer.get("status", 200))
        self.send_header("Content-Type", answer.get("content_type", self._form().stream_type))
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for place, piece in enumerate(pieces):
            if place:
                time.sleep(answer.get("chunk_delay_s", 0))
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.flush()
        if answer.get("cut"):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


def _bytes(piece: Any) -> bytes:
    return bytes.fromhex(piece["hex"]) if isinstance(piece, dict) else piece.encode()


def _as_events(answer: dict[str, Any]) -> list[str]:
    text, reason = answer.get("text", ""), answer.get("finish_reason", "stop")
    more = {"model": answer["model"]} if "model" in answer else {}
    pieces = [delta({"role": "assistant", "content": ""}, **more)]
    if answer.get("reasoning"):
        pieces.append(delta({"reasoning_content": answer["reasoning"]}, **more))
    half = len(text) // 2
    pieces += [delta({"content": part}, **more) for part in (text[:half], text[half:]) if part]
    for place, call in enumerate(answer.get("tool_calls", [])):
        pieces.append(delta({"tool_calls": [{"index": place, **call}]}, **more))
    pieces.append(delta({}, reason, **more))
    return [*pieces, event({"choices": [], "usage": answer.get("usage", USAGE), **more}), event("[DONE]")]


def _as_body(answer: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.get("text", "")}
    if "reasoning" in answer:
        message["reasoning_content"] = answer["reasoning"]
    if "tool_calls" in answer:
        message["tool_calls"] = answer["tool_calls"]
    choice = {"index": 0, "message": message, "finish_reason": answer.get("finish_reason", "stop")}
    return {"model": answer.get("model", "m"), "choices": [choice], "usage": answer.get("usage", USAGE)}


def _as_response(answer: dict[str, Any]) -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    if "reasoning" in answer:
        items.append({"type": "reasoning", "summary": [{"type": "summary_text", "text": answer["reasoning"]}]})
    if answer.get("text") or "tool_calls" not in answer:
        part = {"type": "output_text", "text": answer.get("text", ""), "annotations": []}
        items.append({"type": "message", "role": "assistant", "content": [part]})
    for call in answer.get("tool_calls", []):
        items.append({"type": "function_call", "call_id": call["id"], "id": "fc", **call["function"]})
    cut = answer.get("finish_reason") == "length"
    usage = answer.get("usage", USAGE) or {}
    return {
        "id": "resp_1",
        "object": "response",
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "model": answer.get("model", "m"),
        "output": items,
        "usage": usage
        and {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")},
    }


def _as_response_events(answer: dict[str, Any]) -> list[str]:
    whole = _as_response(answer)
    text = answer.get("text", "")
    half = len(text) // 2
    events = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    events += [{"type": "response.output_text.delta", "delta": part} for part in (text[:half], text[half:]) if part]
    events.append({"type": f"response.{whole['status']}", "response": whole})
    return [f"event: {value['type']}\n{event(value)}" for value in events]


def _as_ollama(answer: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.get("text", "")}
    if "reasoning" in answer:
        message["thinking"] = answer["reasoning"]
    if "tool_calls" in answer:
        functions = [call["function"] for call in answer["tool_calls"]]
        message["tool_calls"] = [
            {"function": {"name": function["name"], "arguments": json.loads(function["arguments"])}}
            for function in functions
        ]
    usage = answer.get("usage", USAGE) or {}
    counts = {"prompt_eval_count": usage.get("prompt_tokens"), "eval_count": usage.get("completion_tokens")}
    ending = {"done": True, "done_reason": answer.get("finish_reason", "stop"), "total_duration": 5}
    return {"model": answer.get("model", "m"), "message": message, **ending, **counts}


def _as_ollama_lines(answer: dict[str, Any]) -> list[str]:
    whole = _as_ollama(answer)
    message, text = whole["message"], whole["message"]["content"]
    half = len(text) // 2
    pieces = [{key: value} for key, value in message.items() if key in ("thinking", "tool_calls")]
    pieces += [{"content": part} for part in (text[:half], text[half:]) if part]
    lines = [
        {"model": whole["model"], "message": {"role": "assistant", "content": "", **piece}, "done": False}
        for piece in pieces
    ]
    last = {**whole, "message": {"role": "assistant", "content": ""}}
    return [json.dumps(line) + "\n" for line in [*lines, last]]


class Form(NamedTuple):
    """How a protocol writes a scripted answer."""

    as_body: Callable[[dict[str, Any]], dict[str, Any]]
    as_events: Callable[[dict[str, Any]], list[str]]
    stream_type: str = "text/event-stream"


CHAT = Form(_as_body, _as_events)
FORMS = {
    "/responses": Form(_as_response, _as_response_events),
    "/api/chat": Form(_as_ollama, _as_ollama_lines, "application/x-ndjson"),
}


def main() -> None:
    """Serve the answers of a JSON file (a list) until killed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--answers", type=Path, help="JSON file with a list of answers; without it all are OK")
    arguments = parser.parse_args()
    answers = json.loads(arguments.answers.read_text()) if arguments.answers else None
    server = ChatServer(answers, arguments.port)
    print(server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
