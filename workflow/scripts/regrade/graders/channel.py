"""A pipe that one sandboxed program writes its result to, read with a bound and off the caller's thread."""

import os
import threading

STRAGGLER_S = 2.0


class Channel:
    """Use as a context around the program's whole life: `descriptor` is for the program, `content` is there after it.

    What comes beyond `limit` bytes is read and dropped, and `cut` says so.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._received = bytearray()
        self.cut = False
        self._read_end, self.descriptor = os.pipe()
        self._thread = threading.Thread(target=self._drain, daemon=True)

    @property
    def content(self) -> bytes:
        return bytes(self._received)

    def __enter__(self) -> "Channel":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """The program is dead, so our copy of the writing end is the last one; unless it ran without a sandbox and
        something of it got away, which is not waited for."""
        os.close(self.descriptor)
        self._thread.join(STRAGGLER_S)
        if not self._thread.is_alive():
            os.close(self._read_end)

    def _drain(self) -> None:
        while part := os.read(self._read_end, 1 << 20):
            room = self._limit - len(self._received)
            self._received += part[:room]
            self.cut = self.cut or len(part) > room
