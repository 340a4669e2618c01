"""What to run in a sandbox, and what came of it."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from regrade.errors import SandboxError

Mode = Literal["bubblewrap", "none"]


@dataclass(frozen=True)
class Limits:
    """Totals for the whole process tree; None is no bound. Sizes are in MiB and KiB, times in seconds."""

    wall_s: float | None = None
    cpu_s: float | None = None
    memory_mb: int | None = None
    processes: int | None = None
    """Threads count too."""
    disk_mb: int | None = None
    """What the writable mounts may grow by; no single file may be larger either. /tmp (at most 256 MiB) and /dev/shm
    (at most 64) are apart, in memory."""
    output_kb: int = 256
    """Kept of stdout and of stderr each: the head, the tail, and between them how much is missing."""
    bound_addresses: bool = True
    """Whether each process may also reserve not much more than `memory_mb`: node, go and bun reserve far more."""


@dataclass(frozen=True)
class Mount:
    """A host file or folder, seen at `target`.

    As root the command runs as another user: what is mounted read-only must be readable by everybody. A writable
    folder is handed to that user and back, and must hold no hard links to files elsewhere.
    """

    source: Path
    target: str
    writable: bool = False

    def resolve(self) -> Path:
        """The source without links. Raises SandboxError if it does not exist."""
        try:
            return self.source.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SandboxError(f"{self.source}: cannot be mounted at {self.target}: {reason}") from error


@dataclass(frozen=True)
class Command:
    """A program with all that it can see and use."""

    argv: list[str]
    """`python` as the first word is the interpreter that runs Regrade."""
    mounts: list[Mount]
    cwd: str
    limits: Limits
    environment: dict[str, str] = field(default_factory=dict)
    """Added to the few variables that every command gets (see `base_environment`)."""
    pass_fds: dict[int, str] = field(default_factory=dict)
    """Open descriptors that the command inherits under the same numbers, and the variable that tells it the number
    ("" for none)."""
    network: bool = False
    stdin: bytes = b""
    mode: Mode = "bubblewrap"


@dataclass(frozen=True)
class Outcome:
    """How the command ended: by itself (exit code), by a signal, or by a limit (which one)."""

    exit_code: int | None
    signal: int | None
    stopped_by: str | None
    wall_s: float
    cpu_s: float | None
    stdout: bytes
    stderr: bytes
    bounds: list[str]
    """Which bounds really held."""


def base_environment() -> dict[str, str]:
    """The only variables that a command gets without being given them."""
    return {
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",  # noqa: S108 (a private tmpfs inside)
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def full_environment(command: Command) -> dict[str, str]:
    """The command's whole environment, with the numbers of its inherited descriptors."""
    numbers = {name: str(descriptor) for descriptor, name in command.pass_fds.items() if name}
    return base_environment() | command.environment | numbers


def full_argv(command: Command) -> list[str]:
    """The command's words, with `python` as a real path."""
    return [sys.executable if command.argv[0] == "python" else command.argv[0], *command.argv[1:]]
