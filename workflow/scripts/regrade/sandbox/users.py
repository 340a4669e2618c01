"""Who a sandbox's command runs as when the caller is root: a user number that no other sandbox has now."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from regrade.errors import SandboxError

NUMBERS = range(60706, 61184)
"""Given to nobody by the usual allocation tables."""


def can_drop() -> bool:
    """Whether this process is root with other user numbers to drop to."""
    ranges = [list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    covered = any(first <= NUMBERS[0] and NUMBERS[-1] < first + count for first, _, count in ranges)
    return os.geteuid() == 0 and covered


@contextlib.contextmanager
def reserve() -> Iterator[int | None]:
    """A number for one sandbox, or None where it is to run as the caller. RLIMIT_NPROC counts by number, machine-wide.

    The reservation is a name in the abstract socket space, which the kernel frees however this process ends.
    """
    if not can_drop():
        yield None
        return
    with socket.socket(socket.AF_UNIX) as holder:
        yield _take(holder)


def _take(holder: socket.socket) -> int:
    for number in NUMBERS:
        try:
            holder.bind(f"\0regrade-sandbox-user-{number}")
        except OSError:
            continue
        return number
    raise SandboxError(f"all {len(NUMBERS)} user numbers for sandboxes are in use: run fewer jobs at once")
