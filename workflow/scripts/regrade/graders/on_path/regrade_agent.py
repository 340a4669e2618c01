"""For graders: call functions that an agent wrote, without letting its code into this process.

    from regrade_agent import call, call_many

    for reply, (_, expected) in zip(call_many("output/cache.py", "run", [[ops] for ops, _ in CASES]), CASES):
        if reply.error or reply.value != expected: ...

The module is imported in a sandbox of its own beside this one. Arguments and return values travel as JSON, so a
tuple comes back as a list. What comes back is whatever the agent's code chose to send: judge it here, and never
send along what is expected.
"""

import json
import os
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONNECTION = "REGRADE_BROKER"
"""The environment variable that holds the descriptor of the connection to who starts the other sandbox."""

DEEPEST = 100
"""Values nested deeper than this are refused: comparing them could end the grader by recursion."""

LARGEST = 16 * 1024 * 1024
"""Bytes of one request."""

_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Reply:
    """What one call gave: a JSON value, or why there is none ("" if there is one)."""

    value: Any = None
    error: str = ""


def call(
    path: str | os.PathLike[str], function: str, *arguments: Any, seconds: float = 10, memory_mb: int = 512
) -> Reply:
    """One call of a function of the module at `path` in the workspace; see call_many."""
    return call_many(path, function, [list(arguments)], seconds=seconds, memory_mb=memory_mb)[0]


def call_many(
    path: str | os.PathLike[str],
    function: str,
    calls: Sequence[Sequence[Any]],
    *,
    seconds: float = 10,
    memory_mb: int = 512,
) -> list[Reply]:
    """One reply for each list of arguments, in order. The module is imported once for all of them.

    `seconds` bounds the CPU time of the whole batch (three times that by the clock), `memory_mb` its memory.
    A call that raises fails alone; when the process ends, the calls that are left fail. Raises only for a
    grader's own mistakes.
    """
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise ValueError(f"path is {path!r}, expected one inside the workspace, relative to it")
    order = {
        "path": str(path),
        "function": function,
        "calls": [list(arguments) for arguments in calls],
        "seconds": seconds,
        "memory_mb": memory_mb,
    }
    content = json.dumps(order, allow_nan=False).encode()
    if len(content) > LARGEST:
        raise ValueError(f"the arguments are {len(content)} bytes of JSON, expected at most {LARGEST}: use two batches")
    answer = _ask(content)
    if "refused" in answer:
        raise RuntimeError(f"agent code could not be run: {answer['refused']}")
    return [_reply(row) for row in answer["replies"]]


def _ask(content: bytes) -> dict[str, Any]:
    if CONNECTION not in os.environ:
        raise RuntimeError("agent code runs only when Regrade runs the grader: use `regrade grade TASK WORKSPACE`")
    with _one_at_a_time, socket.socket(fileno=os.dup(int(os.environ[CONNECTION]))) as connection:
        connection.sendall(struct.pack("!I", len(content)) + content)
        (length,) = struct.unpack("!I", _receive(connection, 4))
        answer: dict[str, Any] = json.loads(_receive(connection, length))
        return answer


def _receive(connection: socket.socket, length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        part = connection.recv(min(length - len(received), 1 << 20))
        if not part:
            raise RuntimeError("the connection to the sandbox for agent code was closed")
        received += part
    return bytes(received)


def _reply(row: dict[str, str]) -> Reply:
    """A value is parsed here, with care: its text was written by agent code."""
    if "error" in row:
        return Reply(error=row["error"])
    try:
        value = json.loads(row["value"], parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return Reply(error=f"did not return JSON: {error}")
    if any(depth > DEEPEST for depth in _depths(value)):
        return Reply(error=f"did not return JSON: nested deeper than {DEEPEST} levels")
    return Reply(value)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _depths(value: Any) -> Iterator[int]:
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        yield (depth := depth + 1)
        level = [
            inner
            for outer in level
            if isinstance(outer, (list, dict))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
