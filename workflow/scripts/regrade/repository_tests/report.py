"""How a program of ours reports from a process that it shares with foreign code.

It gets three descriptors, named by variables:

    REGRADE_ORDER     a file with a JSON value, its work
    REGRADE_WORD      a pipe with a random word, which it reads when its work is done
    REGRADE_REPORT    a file of a fixed size, for that word and what there is to say

A report without the word is none: who ends the process early, with whatever exit code, has not reported. Code that
looks for the two descriptors and does as our program would can still forge a report; no means inside one process
prevents that, and the record says `in_process`.
"""

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from typing import Any

from regrade.sandbox.memory_file import sealed

LARGEST = 1 << 20
"""Bytes of a report."""


class Channel:
    """The descriptors for one program, and what it reported."""

    def __init__(self, order: int, word: int, report: int, expected: str) -> None:
        self.descriptors = {order: "REGRADE_ORDER", word: "REGRADE_WORD", report: "REGRADE_REPORT"}
        self._report = report
        self._expected = expected

    def report(self) -> dict[str, Any] | None:
        """What the program said, once it has ended; None if it did not get so far."""
        try:
            value = json.loads(os.pread(self._report, LARGEST, 0).rstrip(b"\0"))
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) and value.get("word") == self._expected else None


@contextlib.contextmanager
def channel(order: Any) -> Iterator[Channel]:
    """A channel for one program, with its work."""
    expected = secrets.token_hex(32)
    with sealed(json.dumps(order).encode()) as work, contextlib.ExitStack() as stack:
        word, filled = os.pipe()
        stack.callback(os.close, word)
        os.write(filled, expected.encode())
        os.close(filled)
        report = os.memfd_create("report", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        stack.callback(os.close, report)
        # Nobody can fill the machine's memory with it, and a writer is never held up.
        os.ftruncate(report, LARGEST)
        fcntl.fcntl(report, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        yield Channel(work, word, report, expected)
