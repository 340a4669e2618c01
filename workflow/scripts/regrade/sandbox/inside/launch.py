"""Turning a fresh child of the supervisor into the command: bounded, and without any privilege."""

import ctypes
import os
import resource
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_MEGABYTE = 1024 * 1024
_ADDRESS_SPACE_SLACK_MB = 4096
"""Programs reserve far more than they use; this only stops one process from outrunning the supervisor's looks."""

_OPEN_FILES = 4096
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24


def set_dumpable(value: bool) -> None:
    """Whether processes of the same user may look into this one (its memory, descriptors and environment)."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, int(value), 0, 0, 0)


def become_command(settings: "dict[str, Any]") -> "NoReturn":
    """Never returns: ends with a shell's exit codes 127 or 126 if there is no such program."""
    program = settings["argv"][0]
    try:
        _prepare(settings)
        os.execvpe(program, settings["argv"], settings["environment"])  # noqa: S606
    except FileNotFoundError:
        os.write(2, f"{program}: not found\n".encode())
        os._exit(127)
    except BaseException as error:
        os.write(2, f"{program}: {getattr(error, 'strerror', error)}\n".encode())
        os._exit(126)


def _prepare(settings: "dict[str, Any]") -> None:
    set_dumpable(True)
    with open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("1000")
    os.setsid()
    _bound(settings)
    if settings["uid"] is not None:
        _drop_to(settings["uid"])
    try:
        os.chdir(settings["cwd"])
    except OSError as error:
        os.write(settings["report_fd"], f'{{"bad_cwd": "{error.strerror}"}}\n'.encode())
        os._exit(126)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, set())


def _bound(settings: "dict[str, Any]") -> None:
    _set(resource.RLIMIT_CORE, 0)
    _set(resource.RLIMIT_NOFILE, _OPEN_FILES)
    if settings["cpu_s"] is not None:
        _set(resource.RLIMIT_CPU, int(settings["cpu_s"]) + 2)
    if settings["memory_mb"] is not None and settings["bound_addresses"]:
        _set(resource.RLIMIT_AS, (settings["memory_mb"] + _ADDRESS_SPACE_SLACK_MB) * _MEGABYTE)
    if settings["disk_mb"] is not None:
        _set(resource.RLIMIT_FSIZE, settings["disk_mb"] * _MEGABYTE)
    if settings["processes"] is not None and settings["counts_apart"]:
        _set(resource.RLIMIT_NPROC, settings["processes"])


def _set(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


def _drop_to(uid: int) -> None:
    prctl = ctypes.CDLL(None).prctl
    capability = 0
    while prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
