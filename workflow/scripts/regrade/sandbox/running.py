"""Running one command in a sandbox."""

import functools
import json
import os
import signal
import subprocess
from contextlib import ExitStack, nullcontext
from typing import Any

from regrade.errors import SandboxError
from regrade.sandbox import bubblewrap, ownership, plain, users
from regrade.sandbox.command import Command, Limits, Outcome, base_environment
from regrade.sandbox.memory_file import sealed
from regrade.sandbox.pipes import Pipes

GRACE_S = 5.0
"""How much longer than the wall limit the supervisor may take before its sandbox is killed from outside."""

REPORT_BYTES = 1 << 16
"""More than the few lines that bubblewrap and the supervisor write."""


def run(command: Command) -> Outcome:
    """Run a command until it ends or a limit ends it; none of its processes is left then.

    Raises SandboxError if the sandbox cannot start.
    """
    writable = [mount.resolve() for mount in command.mounts if mount.writable]
    with users.reserve() if command.mode == "bubblewrap" else nullcontext() as uid:
        try:
            for folder in writable:
                ownership.hand_over(folder, os.geteuid() if uid is None else uid)
            return plain.run(command) if command.mode == "none" else _run(command, uid)
        finally:
            for folder in writable:
                ownership.take_back(folder)


@functools.cache
def available() -> str | None:
    """None if bubblewrap works here, else one sentence that says why not."""
    try:
        run(Command(["true"], [], "/", Limits(wall_s=30)))
    except SandboxError as error:
        return str(error)
    return None


def _run(command: Command, uid: int | None) -> Outcome:
    with ExitStack() as stack:
        reading, writing = _pipes(stack, uid)
        words, inherited = bubblewrap.words(stack, command, uid, writing["report"])
        kept = command.limits.output_kb * 1024
        pipes = Pipes(reading, {"stdout": kept, "stderr": kept, "report": REPORT_BYTES})
        process = subprocess.Popen(
            words,
            stdin=stack.enter_context(sealed(command.stdin)),
            stdout=writing["stdout"],
            stderr=writing["stderr"],
            pass_fds=inherited,
            env=base_environment(),
        )
        late = pipes.drain(process, _outer_wall(command.limits), lambda: _kill(process, pipes))
    return _outcome(command, uid, pipes, late)


def _pipes(stack: ExitStack, uid: int | None) -> tuple[dict[str, int], dict[str, int]]:
    """Reading and writing ends. The command's own belong to its user, so that it may open /dev/stdout."""
    reading, writing = {}, {}
    for name in ("stdout", "stderr", "report"):
        reading[name], writing[name] = os.pipe()
        stack.callback(os.close, reading[name])
        stack.callback(os.close, writing[name])
        if uid is not None and name != "report":
            os.fchown(writing[name], uid, uid)
    return reading, writing


def _outer_wall(limits: Limits) -> float | None:
    return None if limits.wall_s is None else limits.wall_s + GRACE_S


def _kill(process: "subprocess.Popen[bytes]", pipes: Pipes) -> None:
    """End process 1, and with it the whole namespace; bwrap itself waits until that has happened."""
    inside = _report(pipes).get("child-pid")
    if process.poll() is None:
        os.kill(inside or process.pid, signal.SIGKILL)


def _report(pipes: Pipes) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for line in pipes.value("report").splitlines(keepends=True):
        report |= json.loads(line) if line.endswith(b"\n") else {}
    return report


def _outcome(command: Command, uid: int | None, pipes: Pipes, late: bool) -> Outcome:
    report, stderr = _report(pipes), pipes.value("stderr")
    last_words = stderr[-500:].decode(errors="replace")
    if "started" not in report:
        raise SandboxError(bubblewrap.explain(last_words))
    if "bad_cwd" in report:
        raise SandboxError(f"working folder {command.cwd}: cannot be entered in the sandbox: {report['bad_cwd']}")
    if "wall_s" not in report and not late:
        raise SandboxError(f"the supervisor of a sandbox ended without a report: {bubblewrap.last_line(last_words)}")
    killed: dict[str, Any] = {
        "signal": signal.SIGKILL.value,
        "stopped_by": "wall",
        "wall_s": _outer_wall(command.limits),
    }
    report = killed | report
    return Outcome(
        exit_code=report.get("exit_code"),
        signal=report["signal"],
        stopped_by=report["stopped_by"],
        wall_s=report["wall_s"],
        cpu_s=report.get("cpu_s"),
        stdout=pipes.value("stdout"),
        stderr=stderr,
        bounds=bubblewrap.bounds(command, uid),
    )
