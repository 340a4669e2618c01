"""The grader's way to agent code: starts a second sandbox beside the grader's whenever the grader asks.

Runs in Regrade's own process, in a thread, so it trusts neither side: the grader's requests are bounded and
checked, and what agent code sends is only ever cut, parsed as lines of flat JSON, and passed on as text.
"""

import json
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any

from regrade import sandbox
from regrade.errors import SandboxError
from regrade.graders.channel import Channel
from regrade.graders.places import DRIVER, PYTHON, WORKSPACE, program, seen

LARGEST = 16 * 1024 * 1024
"""Bytes of one request and of one batch's replies."""

MOST_CALLS = 100_000
LONGEST_ERROR = 2_000
PROCESSES = 64
DISK_MB = 64


class Broker:
    """Serves one grader. Use as a context: `descriptor` goes to the grader, `failure` says if a sandbox broke."""

    def __init__(self, view: Path, seconds: float, mode: sandbox.Mode) -> None:
        self.failure: str | None = None
        self.cpu_s = 0.0
        self._view, self._mode = view, mode
        self._end = time.monotonic() + seconds
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def descriptor(self) -> int:
        return self._theirs.fileno()

    def __enter__(self) -> "Broker":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """To be left when the grader is dead: a call that is still going on ends at the grader's own wall limit."""
        self._theirs.close()
        self._ours.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._ours.close()

    def _serve(self) -> None:
        try:
            while (request := self._read()) is not None:
                self._send(self._answer(request))
        except OSError:
            return  # the grader is gone

    def _read(self) -> bytes | None:
        head = self._receive(4)
        if head is None:
            return None
        (length,) = struct.unpack("!I", head)
        return self._receive(length) if length <= LARGEST else None

    def _receive(self, length: int) -> bytes | None:
        received = bytearray()
        while len(received) < length:
            part = self._ours.recv(min(length - len(received), 1 << 20))
            if not part:
                return None
            received += part
        return bytes(received)

    def _send(self, answer: dict[str, Any]) -> None:
        content = json.dumps(answer).encode()
        self._ours.sendall(struct.pack("!I", len(content)) + content)

    def _answer(self, content: bytes) -> dict[str, Any]:
        try:
            request = _checked(json.loads(content))
        except (ValueError, RecursionError) as error:
            return {"refused": str(error)}
        try:
            return {"replies": self._call(request)}
        except (SandboxError, OSError) as error:
            self.failure = str(error)
            return {"refused": str(error)}

    def _call(self, request: dict[str, Any]) -> list[dict[str, str]]:
        left = max(self._end - time.monotonic(), 0.1)
        limits = sandbox.Limits(
            wall_s=min(3 * request["seconds"], left),
            cpu_s=min(request["seconds"], left),
            memory_mb=request["memory_mb"],
            processes=PROCESSES,
            disk_mb=DISK_MB,
        )
        asked = {key: request[key] for key in ("path", "function", "calls")}
        with Channel(LARGEST) as channel:
            outcome = sandbox.run(self._command(json.dumps(asked).encode(), limits, channel.descriptor))
        self.cpu_s += outcome.cpu_s or 0.0
        found = _replies(channel.content, len(request["calls"]))
        missing = _ending(outcome, request) if not channel.cut else f"returned more than {LARGEST} bytes"
        return [found.get(index, {"error": missing}) for index in range(len(request["calls"]))]

    def _command(self, stdin: bytes, limits: sandbox.Limits, descriptor: int) -> sandbox.Command:
        driver, view = program(DRIVER), sandbox.Mount(self._view, WORKSPACE)
        order = json.dumps({"workspace": seen(view, self._mode), "result": descriptor})
        return sandbox.Command(
            argv=[*PYTHON, seen(driver, self._mode), order],
            mounts=[driver, view],
            cwd="/tmp",  # noqa: S108 (a private tmpfs inside)
            limits=limits,
            environment={"PYTHONHASHSEED": "0"},
            pass_fds={descriptor: ""},
            stdin=stdin,
            mode=self._mode,
        )


def _checked(request: Any) -> dict[str, Any]:
    """A request whose fields are all as regrade_agent sends them. Raises ValueError."""
    if not isinstance(request, dict):
        raise ValueError("the request is no object")
    expected: dict[str, Any] = {"path": str, "function": str, "calls": list, "seconds": (int, float), "memory_mb": int}
    for name, kind in expected.items():
        if not isinstance(request.get(name), kind) or isinstance(request[name], bool):
            raise ValueError(f"{name} is {request.get(name)!r:.100}")
    if not all(isinstance(arguments, list) for arguments in request["calls"]):
        raise ValueError("calls holds something that is no list of arguments")
    if len(request["calls"]) > MOST_CALLS:
        raise ValueError(f"{len(request['calls'])} calls, expected at most {MOST_CALLS}")
    if not 0 < request["seconds"] <= 3600 or not 16 <= request["memory_mb"] <= 65536:
        raise ValueError("seconds must be above 0 and at most 3600, memory_mb from 16 to 65536")
    return request


def _replies(content: bytes, calls: int) -> dict[int, dict[str, str]]:
    """The replies by call that can be read; anything else on the channel is no reply."""
    found: dict[int, dict[str, str]] = {}
    for line in content.split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        index = row.get("call") if isinstance(row, dict) else None
        if type(index) is not int or not 0 <= index < calls or index in found:
            continue
        if isinstance(row.get("error"), str):
            found[index] = {"error": row["error"][:LONGEST_ERROR] or "failed"}
        elif isinstance(row.get("value"), str):
            found[index] = {"value": row["value"]}
    return found


def _ending(outcome: sandbox.Outcome, request: dict[str, Any]) -> str:
    """Why calls were left without a reply."""
    if outcome.stopped_by == "memory":
        return f"used more than {request['memory_mb']} MB of memory"
    bounds = {"cpu": f"{request['seconds']:g} s of CPU", "wall": f"{3 * request['seconds']:g} s by the clock"}
    if outcome.stopped_by in bounds:
        return f"timed out after {outcome.wall_s:.1f} s (limit: {bounds[outcome.stopped_by]})"
    if outcome.stopped_by:
        return f"was stopped by the {outcome.stopped_by} limit"
    if outcome.signal:
        return f"ended the process (signal {outcome.signal})"
    return f"ended the process (exit code {outcome.exit_code})"
