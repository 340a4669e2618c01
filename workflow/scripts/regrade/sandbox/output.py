"""Collecting what a command prints without ever keeping more than a bounded part of it."""

from collections import deque


class Output:
    """The head and the tail of a stream of bytes."""

    def __init__(self, limit: int) -> None:
        self._head = bytearray()
        self._head_limit = limit - limit // 2
        self._tail: deque[bytes] = deque()
        self._tail_limit = limit // 2
        self._tail_size = 0
        self._total = 0

    def add(self, piece: bytes) -> None:
        """Take the next bytes of the stream."""
        self._total += len(piece)
        room = self._head_limit - len(self._head)
        self._head += piece[:room]
        rest = piece[room:] if room else piece
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._tail_limit:
            self._tail_size -= len(self._tail.popleft())

    def value(self) -> bytes:
        """All of it if it is within the limit; else head, a note of what was omitted, tail."""
        tail = b"".join(self._tail)
        tail = tail[max(0, len(tail) - self._tail_limit) :]
        omitted = self._total - len(self._head) - len(tail)
        note = f"\n... {omitted} bytes omitted ...\n".encode() if omitted else b""
        return bytes(self._head) + note + tail
