"""Running a command without a sandbox, where the user allowed it: bounded, but seeing all that the user sees."""

import os
import resource
import signal
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import PurePosixPath

from regrade.errors import SandboxError
from regrade.sandbox.command import Command, Limits, Mount, Outcome, full_argv, full_environment
from regrade.sandbox.memory_file import sealed
from regrade.sandbox.pipes import Pipes

_MEGABYTE = 1024 * 1024


def run(command: Command) -> Outcome:
    """Run in a session of its own. Words, values and cwd that name a place below a mount name its source instead.

    Only the wall limit is a total: CPU, memory and file size bound each process by itself, and a process that left
    the session is not ended.
    """
    words = [_on_host(word, command.mounts) for word in full_argv(command)]
    environment = {name: _on_host(value, command.mounts) for name, value in full_environment(command).items()}
    started = time.monotonic()
    with ExitStack() as stack:
        reading, writing = _pipes(stack)
        kept = command.limits.output_kb * 1024
        pipes = Pipes(reading, {"stdout": kept, "stderr": kept})
        try:
            process = subprocess.Popen(
                words,
                cwd=_on_host(command.cwd, command.mounts),
                stdin=stack.enter_context(sealed(command.stdin)),
                stdout=writing["stdout"],
                stderr=writing["stderr"],
                pass_fds=list(command.pass_fds),
                env=environment,
                start_new_session=True,
                preexec_fn=lambda: _bound(command.limits),
            )
        except FileNotFoundError as error:
            if error.filename != words[0]:
                raise SandboxError(f"working folder {command.cwd}: cannot be entered: {error.strerror}") from error
            return _not_started(command.limits, 127, f"{words[0]}: not found\n")
        except OSError as error:
            return _not_started(command.limits, 126, f"{words[0]}: {error.strerror}\n")
        late = pipes.drain(process, command.limits.wall_s, lambda: _kill_group(process.pid))
        _kill_group(process.pid)
    code = process.returncode
    return Outcome(
        exit_code=code if code >= 0 else None,
        signal=-code if code < 0 else None,
        stopped_by="wall" if late else {-signal.SIGXFSZ: "disk", -signal.SIGXCPU: "cpu"}.get(code),
        wall_s=time.monotonic() - started,
        cpu_s=None,
        stdout=pipes.value("stdout"),
        stderr=pipes.value("stderr"),
        bounds=_bounds(command.limits),
    )


def _not_started(limits: Limits, exit_code: int, stderr: str) -> Outcome:
    """A program that cannot be started is a failed command, as in a shell."""
    return Outcome(exit_code, None, None, 0.0, 0.0, b"", stderr.encode(), _bounds(limits))


def _pipes(stack: ExitStack) -> tuple[dict[str, int], dict[str, int]]:
    reading, writing = {}, {}
    for name in ("stdout", "stderr"):
        reading[name], writing[name] = os.pipe()
        stack.callback(os.close, reading[name])
        stack.callback(os.close, writing[name])
    return reading, writing


def _on_host(word: str, mounts: list[Mount]) -> str:
    """A path inside as a path of the host; any other word as it is."""
    if not word.startswith("/"):
        return word
    path = PurePosixPath(word)
    for mount in sorted(mounts, key=lambda mount: len(mount.target), reverse=True):
        if path.is_relative_to(mount.target):
            return str(mount.resolve() / path.relative_to(mount.target))
    return word


def _bound(limits: Limits) -> None:
    _set(resource.RLIMIT_CORE, 0)
    if limits.cpu_s is not None:
        _set(resource.RLIMIT_CPU, int(limits.cpu_s) + 1)
    if limits.memory_mb is not None and limits.bound_addresses:
        _set(resource.RLIMIT_AS, limits.memory_mb * _MEGABYTE)
    if limits.disk_mb is not None:
        _set(resource.RLIMIT_FSIZE, limits.disk_mb * _MEGABYTE)


def _set(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, hard))


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _bounds(limits: Limits) -> list[str]:
    held = {"wall": limits.wall_s, "cpu of each process": limits.cpu_s, "memory of each process": limits.memory_mb}
    held["size of each file"] = limits.disk_mb
    return ["output", *(name for name, value in held.items() if value is not None)]
