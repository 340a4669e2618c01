"""Process 1 of a sandbox: starts the command, watches the whole tree, ends it, and says how it went.

Runs by itself (`python -I -S supervisor.py CONFIG_FD`), so it imports nothing of Regrade and little of Python:
every sandbox waits for it. Its settings are a marshalled dict (`bubblewrap.settings`), its report is lines of JSON.
"""

import ctypes
import marshal
import os
import resource
import signal
import stat
import sys
import time

TICK_S = 0.02
MEGABYTE = 1024 * 1024
ADDRESS_SPACE_SLACK = 4096 * MEGABYTE
ENTRY_BYTES = 1024
MAX_DEPTH = 64
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def main():
    if os.getpid() != 1:
        sys.exit("supervisor.py: runs only as process 1 of a sandbox")
    with os.fdopen(int(sys.argv[1]), "rb") as stream:
        settings = marshal.loads(stream.read())
    report = settings["report_fd"]
    os.set_inheritable(report, False)
    close_all_but({0, 1, 2, report, *settings["pass_fds"]})
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
    watch = Watch(settings)
    os.write(report, b'{"started": true}\n')
    pid = os.fork()
    if pid == 0:
        start_command(settings)
    for descriptor in (0, 1, 2, *settings["pass_fds"]):
        os.close(descriptor)
    stopped_by = watch.until_end(pid)
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    watch.reap_all()
    os.write(report, watch.report(stopped_by).encode())


def close_all_but(kept):
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                continue


def start_command(settings):
    """In the child: bound it, drop every privilege, and become the command."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1)
        with open("/proc/self/oom_score_adj", "w") as stream:
            stream.write("1000")
        os.setsid()
        set_limits(settings)
        if settings["uid"] is not None:
            drop_to(settings["uid"])
        try:
            os.chdir(settings["cwd"])
        except OSError as error:
            os.write(settings["report_fd"], b'{"failed": "the working folder cannot be entered: %s"}\n' % error.strerror.encode())
            os._exit(126)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        os.execvpe(settings["argv"][0], settings["argv"], settings["environment"])
    except FileNotFoundError:
        os.write(2, f"{settings['argv'][0]}: not found\n".encode())
        os._exit(127)
    except OSError as error:
        os.write(2, f"{settings['argv'][0]}: {error.strerror}\n".encode())
        os._exit(126)
    finally:
        os._exit(126)


def drop_to(uid):
    prctl = ctypes.CDLL(None).prctl
    capability = 0
    while prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def set_limits(settings):
    bound(resource.RLIMIT_CORE, 0)
    bound(resource.RLIMIT_NOFILE, 4096)
    if settings["cpu_s"] is not None:
        bound(resource.RLIMIT_CPU, int(settings["cpu_s"]) + 2)
    if settings["memory_mb"] is not None:
        bound(resource.RLIMIT_AS, settings["memory_mb"] * MEGABYTE + ADDRESS_SPACE_SLACK)
    if settings["disk_mb"] is not None:
        bound(resource.RLIMIT_FSIZE, settings["disk_mb"] * MEGABYTE)
    if settings["nproc"] is not None:
        bound(resource.RLIMIT_NPROC, settings["nproc"])


def bound(limit, value):
    hard = resource.getrlimit(limit)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


class Watch:
    """Usage of the whole tree against its limits."""

    def __init__(self, settings):
        self.settings = settings
        self.status = None
        self.main = None
        self.started = time.monotonic()
        self.ended = None
        self.seen_cpu = {}
        self.gone_cpu = 0.0
        self.cpu_s = 0.0
        self.next_disk_look = 0.0
        self.disk_before = self.disk_use() if settings["disk_mb"] is not None else 0

    def until_end(self, pid):
        """Wait for the command's own end (None) or for the first limit that is passed (its name)."""
        self.main = pid
        next_look = 0.0
        while True:
            signal.sigtimedwait({signal.SIGCHLD}, TICK_S)
            if self.reap():
                self.ended = time.monotonic()
                return "disk" if self.over_disk() else self.stopping_signal()
            now = time.monotonic()
            if now >= next_look:
                next_look = now + TICK_S
                passed = self.passed_limit(now)
                if passed:
                    self.ended = now
                    return passed

    def stopping_signal(self):
        """The limit that the kernel itself enforced on the command."""
        if os.WIFSIGNALED(self.status):
            return {signal.SIGXFSZ: "disk", signal.SIGXCPU: "cpu"}.get(os.WTERMSIG(self.status))
        return None

    def reap(self):
        """Collect every dead process; true once the command is among them."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == self.main:
                self.status = status
        return self.status is not None

    def reap_all(self):
        """Wait until every process is gone."""
        while True:
            try:
                pid, status = os.wait()
            except ChildProcessError:
                break
            if pid == self.main:
                self.status = status
        self.cpu_s = max(self.cpu_s, children_cpu())

    def passed_limit(self, now):
        settings = self.settings
        if settings["wall_s"] is not None and now - self.started > settings["wall_s"]:
            return "wall"
        cpu, memory, tasks, pids = self.look()
        if settings["cpu_s"] is not None and cpu > settings["cpu_s"]:
            return "cpu"
        if settings["memory_mb"] is not None and memory > settings["memory_mb"] * MEGABYTE:
            if proportional_memory(pids) + shared_memory() > settings["memory_mb"] * MEGABYTE:
                return "memory"
        if settings["processes"] is not None and tasks > settings["processes"]:
            return "processes"
        if now >= self.next_disk_look and self.over_disk():
            return "disk"
        return None

    def look(self):
        """CPU seconds so far, resident bytes, tasks (processes and threads), and the process numbers."""
        seen, waited, memory, tasks, pids = {}, 0, 0, 0, []
        for pid in os.listdir("/proc"):
            if not pid.isdigit() or pid == "1":
                continue
            try:
                with open(f"/proc/{pid}/stat", "rb") as stream:
                    fields = stream.read().rpartition(b")")[2].split()
            except OSError:
                continue
            own = (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND
            waited += (int(fields[13]) + int(fields[14])) / TICKS_PER_SECOND
            seen[pid, fields[19]] = own
            tasks += int(fields[17])
            memory += int(fields[21]) * PAGE_BYTES
            pids.append(pid)
        self.gone_cpu += sum(cpu for key, cpu in self.seen_cpu.items() if key not in seen)
        self.seen_cpu = seen
        live = sum(seen.values())
        self.cpu_s = max(self.cpu_s, live + self.gone_cpu, live + waited + children_cpu())
        return self.cpu_s, memory + shared_memory(), tasks, pids

    def over_disk(self):
        limit = self.settings["disk_mb"]
        if limit is None:
            return False
        began = time.monotonic()
        used = self.disk_use()
        ended = time.monotonic()
        self.next_disk_look = ended + max(TICK_S * 2, 10 * (ended - began))
        return used is None or used - self.disk_before > limit * MEGABYTE

    def disk_use(self):
        """Bytes below the writable mounts, unlinked files that are still open included; None if nested too deep."""
        total = unlinked_bytes()
        for folder in self.settings["writable"]:
            used = folder_bytes(folder)
            if used is None:
                return None
            total += used
        return total

    def report(self, stopped_by):
        by_signal = os.WIFSIGNALED(self.status)
        return '{"exit_code": %s, "signal": %s, "stopped_by": %s, "wall_s": %.4f, "cpu_s": %.4f}\n' % (
            "null" if by_signal else os.WEXITSTATUS(self.status),
            os.WTERMSIG(self.status) if by_signal else "null",
            f'"{stopped_by}"' if stopped_by else "null",
            self.ended - self.started,
            self.cpu_s,
        )


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def proportional_memory(pids):
    """Resident bytes with every shared page counted once."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", "rb") as stream:
                total += next((int(line.split()[1]) * 1024 for line in stream if line.startswith(b"Pss:")), 0)
        except OSError:
            continue
    return total


def shared_memory():
    """Resident bytes of System V segments, which belong to no process."""
    try:
        with open("/proc/sysvipc/shm", "rb") as stream:
            return sum(int(line.split()[14]) for line in stream.readlines()[1:])
    except (OSError, IndexError):
        return 0


def folder_bytes(folder):
    total = 0
    waiting = [(folder, 0)]
    while waiting:
        path, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return None
        for entry in entries(path):
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            total += status.st_blocks * 512 + ENTRY_BYTES
            if stat.S_ISDIR(status.st_mode):
                waiting.append((entry.path, depth + 1))
    return total


def entries(path):
    """What a folder holds; one that was made unreadable is made readable, so that nothing hides in it."""
    for _ in range(2):
        try:
            return list(os.scandir(path))
        except PermissionError:
            try:
                os.chmod(path, 0o700)
            except OSError:
                return []
        except OSError:
            return []
    return []


def unlinked_bytes():
    """Bytes of open files that no folder holds any more."""
    found = {}
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or pid == "1":
            continue
        try:
            descriptors = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                status = os.stat(f"/proc/{pid}/fd/{descriptor}")
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                found[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(found.values())


if __name__ == "__main__":
    main()
