"""What all processes of a sandbox use together, read from its own /proc."""

import os
import resource

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Processes:
    """The processes other than this one (process 1), watched from look to look."""

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self._seen: dict[tuple[str, bytes], float] = {}
        self._gone_cpu_s = 0.0

    def look(self) -> tuple[float, int, int]:
        """CPU seconds so far, resident bytes now (shared pages counted for each), processes and threads now.

        The kernel adds a dead child's CPU to the parent that waits for it, but to nobody if the parent ignores its
        children; hence what was seen of processes that are gone is kept as well, and the larger sum is believed.
        """
        seen: dict[tuple[str, bytes], float] = {}
        waited_s, memory, tasks = 0.0, 0, 0
        for pid in _pids():
            try:
                with open(f"/proc/{pid}/stat", "rb") as stream:
                    fields = stream.read().rpartition(b")")[2].split()
            except OSError:
                continue
            seen[pid, fields[19]] = (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND
            waited_s += (int(fields[13]) + int(fields[14])) / _TICKS_PER_SECOND
            tasks += int(fields[17])
            memory += int(fields[21]) * _PAGE_BYTES
        self._gone_cpu_s += sum(cpu_s for key, cpu_s in self._seen.items() if key not in seen)
        self._seen = seen
        live_s = sum(seen.values())
        self.cpu_s = max(self.cpu_s, live_s + self._gone_cpu_s, live_s + waited_s + _reaped_cpu_s())
        return self.cpu_s, memory + _segments(), tasks

    def final_cpu_s(self) -> float:
        """CPU seconds of them all, once all are dead and reaped."""
        return max(self.cpu_s, _reaped_cpu_s())


def real_memory() -> int:
    """Resident bytes with every shared page counted once; slow."""
    total = _segments()
    for pid in _pids():
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as stream:
                total += next((int(line.split()[1]) * 1024 for line in stream if line.startswith(b"Pss:")), 0)
        except OSError:
            continue
    return total


def _pids() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def _reaped_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _segments() -> int:
    """Resident bytes of System V shared memory, which can outlive every process that used it."""
    try:
        with open("/proc/sysvipc/shm", "rb") as stream:
            return sum(int(line.split()[14]) for line in stream.readlines()[1:])
    except OSError:
        return 0
