"""Reading what a process writes, until it ends: bounded in memory, and not held up by who keeps a pipe open."""

import os
import select
import subprocess
import time
from collections.abc import Callable

from regrade.sandbox.output import Output

_LAST_S = 5.0
_PIECE = 1 << 16


class Pipes:
    """The reading ends of a process's pipes, by name, and of what came out of each as many bytes as its limit says."""

    def __init__(self, descriptors: dict[str, int], limits: dict[str, int]) -> None:
        self._names = {descriptor: name for name, descriptor in descriptors.items()}
        self._outputs = {name: Output(limits[name]) for name in descriptors}
        self._poll = select.poll()
        for descriptor in self._names:
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)

    def value(self, name: str) -> bytes:
        """What came out of one pipe, cut in the middle if it was too much."""
        return self._outputs[name].value()

    def drain(self, process: "subprocess.Popen[bytes]", wall_s: float | None, kill: Callable[[], None]) -> bool:
        """Read until the process has ended. After `wall_s` seconds `kill` is called, and the answer is True; a process
        that is still there a little later (stopped, say) is killed itself."""
        deadline = None if wall_s is None else time.monotonic() + wall_s
        late = False
        end = os.pidfd_open(process.pid)
        self._poll.register(end, select.POLLIN)
        try:
            while end not in self._take_ready(deadline):
                if deadline is not None and time.monotonic() >= deadline:
                    if late:
                        process.kill()
                    else:
                        kill()
                    late, deadline = True, time.monotonic() + _LAST_S
        except BaseException:
            kill()
            raise
        finally:
            process.wait()
            os.close(end)
        for descriptor in self._names:
            while self._read(descriptor):
                pass
        return late

    def _take_ready(self, deadline: float | None) -> set[int]:
        """Wait for something to read, read it, and name the descriptors that were ready."""
        left = None if deadline is None else 1 + 1000 * max(0.0, deadline - time.monotonic())
        ready = {descriptor for descriptor, _ in self._poll.poll(left)}
        for descriptor in ready & self._names.keys():
            if not self._read(descriptor):
                self._poll.unregister(descriptor)
        return ready

    def _read(self, descriptor: int) -> bool:
        """Take one piece; false at the end, or when nothing is there now."""
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return False
        self._outputs[self._names[descriptor]].add(piece)
        return bool(piece)
