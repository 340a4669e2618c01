"""Files that one process alone appends to, a whole line at a time, so that they are safe on shared file systems."""

import os
import socket
import uuid
from pathlib import Path

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class Segment:
    """A file of lines in a folder, under a name that nobody else has; made with the first line.

    After a line that did not fit, and in a forked child, the next line goes to a new file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor = -1
        self._size = 0
        self._begin()

    def _begin(self) -> None:
        self.close()
        self._process = os.getpid()
        self.path = self._folder / f"{_new_writer()}.jsonl"

    def append(self, line: bytes) -> int:
        """Add a line, given without its end; where it begins. Raises OSError if the disk took less than all of it."""
        if self._process != os.getpid():
            self._begin()
        if self._descriptor < 0:
            self._open()
        place, line = self._size, line + b"\n"
        try:
            if os.write(self._descriptor, line) != len(line):
                raise OSError("the disk took only a part of the line")
        except OSError:
            self._begin()
            raise
        self._size += len(line)
        return place

    def _open(self) -> None:
        try:
            self._descriptor = os.open(self.path, _FLAGS, 0o644)
        except FileNotFoundError:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, _FLAGS, 0o644)
        self._size = os.fstat(self._descriptor).st_size

    def close(self) -> None:
        """Give the descriptor back; a later line opens the file again."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1

    def __del__(self) -> None:
        self.close()


def _new_writer() -> str:
    host = "".join(char for char in socket.gethostname() if char.isalnum() or char == "-")[:40]
    return f"{host}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
