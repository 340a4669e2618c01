"""Process 1 of a sandbox: starts the command, watches the whole tree, ends it, and says how it went.

Run as `python -I -S supervisor.py SETTINGS_FD REPORT_FD`. The settings are a marshalled dict (`bubblewrap._settings`);
the report is lines of JSON on a descriptor that the command never has.
"""

import marshal
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

sys.path.insert(0, __file__.partition("/regrade/sandbox/inside/")[0])

from regrade.sandbox.inside import files, launch  # noqa: E402
from regrade.sandbox.inside.processes import Processes, real_memory  # noqa: E402

_LOOK_S = 0.02
_SLICE_S = 0.01
_MEGABYTE = 1024 * 1024


class Supervisor:
    """One command and its limits."""

    def __init__(self, settings: "dict[str, Any]") -> None:
        self.settings = settings
        self.processes = Processes()
        self.disk = _DiskWatch(settings["writable"], frozenset(settings["read_only"]), settings["disk_mb"])
        self.pid = 0
        self.status: int | None = None
        self.started = time.monotonic()

    def run(self) -> str:
        """Run the command to its end or its first limit, end all that is left, and say in JSON how it went."""
        self.started = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            launch.become_command(self.settings)
        for descriptor in self.settings["pass_fds"]:
            os.close(descriptor)
        stopped_by = self._watch()
        wall_s = time.monotonic() - self.started
        self._end_all()
        stopped_by = stopped_by or self._late_finding()
        return self._report(stopped_by, wall_s)

    def _watch(self) -> str | None:
        next_look = 0.0
        while True:
            signal.sigtimedwait({signal.SIGCHLD}, _LOOK_S)
            self._reap(os.WNOHANG)
            if self.status is not None:
                return None
            if time.monotonic() >= next_look:
                passed = self._passed_limit()
                if passed:
                    return passed
                next_look = time.monotonic() + _LOOK_S

    def _passed_limit(self) -> str | None:
        settings = self.settings
        cpu_s, memory, tasks = self.processes.look()
        if _is_over(time.monotonic() - self.started, settings["wall_s"]):
            return "wall"
        if _is_over(cpu_s, settings["cpu_s"]):
            return "cpu"
        if _is_over(memory / _MEGABYTE, settings["memory_mb"]) and _is_over(
            real_memory() / _MEGABYTE, settings["memory_mb"]
        ):
            return "memory"
        if _is_over(tasks, settings["processes"]):
            return "processes"
        return "disk" if self.disk.is_over(_SLICE_S) else None

    def _late_finding(self) -> str | None:
        """A limit that was passed between the last look and the end, or that the kernel enforced by a signal."""
        assert self.status is not None
        if os.WIFSIGNALED(self.status):
            by_signal = {signal.SIGXFSZ: "disk", signal.SIGXCPU: "cpu"}.get(signal.Signals(os.WTERMSIG(self.status)))
            if by_signal:
                return by_signal
        return "disk" if self.disk.is_over_now() else None

    def _end_all(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        self._reap(0)

    def _reap(self, flags: int) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, flags)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.pid:
                self.status = status

    def _report(self, stopped_by: str | None, wall_s: float) -> str:
        assert self.status is not None
        is_signal = os.WIFSIGNALED(self.status)
        exit_code = "null" if is_signal else os.WEXITSTATUS(self.status)
        number = os.WTERMSIG(self.status) if is_signal else "null"
        limit = f'"{stopped_by}"' if stopped_by else "null"
        times = f'"wall_s": {wall_s:.4f}, "cpu_s": {self.processes.final_cpu_s():.4f}'
        return f'{{"exit_code": {exit_code}, "signal": {number}, "stopped_by": {limit}, {times}}}\n'


class _DiskWatch:
    """Growth of the writable mounts against a limit in MiB, counted over several looks so that none takes long."""

    def __init__(self, folders: list[str], read_only: frozenset[str], limit_mb: int | None) -> None:
        self._folders, self._read_only = folders, read_only
        self._count: Iterator[int] | None = None
        self._rest_until = 0.0
        self._spent_s = 0.0
        self._sum = 0
        self._limit = None if limit_mb is None else limit_mb * _MEGABYTE + sum(files.sizes(folders, read_only))

    def is_over(self, slice_s: float) -> bool:
        """Go on counting for a while; true once a count is over the limit or meets a folder nested too deep."""
        began = time.monotonic()
        if self._limit is None or began < self._rest_until:
            return False
        self._count = self._count or self._begin()
        try:
            for steps, size in enumerate(self._count):
                self._sum += size
                if self._sum > self._limit:
                    return True
                if steps % 100 == 99 and time.monotonic() - began > slice_s:
                    self._spent_s += time.monotonic() - began
                    return False
        except files.TooDeepError:
            return True
        self._count = None
        self._rest_until = time.monotonic() + 10 * (self._spent_s + time.monotonic() - began)
        return False

    def is_over_now(self) -> bool:
        """A whole count from the beginning."""
        self._count, self._rest_until = None, 0.0
        return self.is_over(float("inf"))

    def _begin(self) -> Iterator[int]:
        self._sum, self._spent_s = 0, 0.0
        return files.sizes(self._folders, self._read_only)


def _is_over(value: float, limit: float | None) -> bool:
    return limit is not None and value > limit


def _close_all_but(kept: set[int]) -> None:
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor not in kept:
            with suppress(OSError):
                os.close(descriptor)


def main() -> None:
    """Only ever process 1: anywhere else the last step would end every process of the user."""
    if os.getpid() != 1:
        sys.exit("supervisor.py runs only as process 1 of a sandbox")
    settings_fd, report_fd = map(int, sys.argv[1:])
    with os.fdopen(settings_fd, "rb") as stream:
        settings = marshal.loads(stream.read())  # noqa: S302 (from Regrade, by a sealed file)
    _close_all_but({0, 1, 2, report_fd, *settings["pass_fds"]})
    os.set_inheritable(report_fd, False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    launch.set_dumpable(False)
    os.write(report_fd, b'{"started": true}\n')
    os.write(report_fd, Supervisor(settings).run().encode())


if __name__ == "__main__":
    main()
