"""Running a command of a task where its files are at /app: the set-up, and tests."""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regrade import sandbox
from regrade.formats.selfbench.definition import Definition
from regrade.workspace import copy_file, make_folder

APP, HOME = "/app", "/home/agent"
"""Where commands find the repository, and a home folder that the set-up may fill."""

PROCESSES, OUTPUT_KB = 1024, 256
_TIMED_OUT, _SIGNALLED = 124, 128
_COMMAND = "/regrade-command"


@dataclass(frozen=True)
class Place:
    """The folders that commands work in: the repository, a home, and temporary files, which outlive a command."""

    folder: Path

    @property
    def app(self) -> Path:
        return self.folder / "app"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def tmp(self) -> Path:
        return self.folder / "tmp"

    def make(self, app: Path, home: Path | None = None) -> None:
        """Fill the folders with copies that may be written."""
        make_folder(self.folder)
        copy(app, self.app)
        if home is not None and home.is_dir():
            copy(home, self.home)
        make_folder(self.home)
        make_folder(self.tmp)


def copy(source: Path, target: Path) -> None:
    """A copy of a folder that its owner may write; links stay links, and what is no file is left out."""
    shutil.copytree(source, target, symlinks=True, copy_function=_copy, ignore=_special)


def _copy(source: str, target: str) -> None:
    copy_file(Path(source), Path(target))


def _special(folder: str, names: list[str]) -> list[str]:
    places = ((name, Path(folder, name)) for name in names)
    return [name for name, place in places if not (place.is_symlink() or place.is_dir() or place.is_file())]


@dataclass(frozen=True)
class Bounds:
    """A task's limits for one command. CPU seconds are those that its share of CPUs gives in that time."""

    seconds: int
    cpus: float
    memory_mb: int
    storage_mb: int

    @classmethod
    def of(cls, definition: Definition, seconds: int) -> "Bounds":
        """The bounds of a command that may take some seconds."""
        resources = definition.resources
        return cls(seconds, resources.cpus, resources.memory_mb, resources.storage_mb)

    def limits(self) -> sandbox.Limits:
        """What the sandbox is told."""
        return sandbox.Limits(
            wall_s=self.seconds,
            cpu_s=max(1.0, self.seconds * self.cpus),
            memory_mb=self.memory_mb,
            bound_addresses=False,
            processes=PROCESSES,
            disk_mb=self.storage_mb,
            output_kb=OUTPUT_KB,
        )


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (124 for a limit, 128 and the signal's number), the limit, its output."""

    code: int
    stopped_by: str | None
    output: bytes
    wall_s: float
    cpu_s: float | None
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def ending(self) -> str:
        """That in one phrase."""
        if self.stopped_by:
            return f"was stopped by the {self.stopped_by} limit after {self.wall_s:.1f} s"
        return f"ended with exit code {self.code}"

    @property
    def last_words(self) -> str:
        """The end of its output on one line."""
        return " ".join(self.output[-2000:].decode(errors="replace").split())[-300:]


def run(
    place: Place,
    command: str,
    workdir: str,
    bounds: Bounds,
    mode: str,
    *,
    network: bool = False,
    mounts: Sequence[sandbox.Mount] = (),
    fixed: Sequence[str] = (),
    environment: dict[str, str] | None = None,
    descriptors: dict[int, str] | None = None,
) -> Ended:
    """Run a command by `bash -lc` in /app/<workdir>; none of its processes is left then.

    `fixed` are files of the repository that it finds read-only (in the sandbox). Raises SandboxError.
    """
    sandboxed = mode == "bubblewrap"
    script = place.folder / "command"
    script.write_text(f"{command}\n", encoding="utf-8", errors="surrogateescape")
    script.chmod(0o644)
    app, home = (APP, HOME) if sandboxed else (str(place.app.resolve()), str(place.home.resolve()))
    words = ["bash", "-lc", f". {shlex.quote(_COMMAND if sandboxed else str(script.resolve()))}"]
    own = [
        sandbox.Mount(place.app, APP, writable=True),
        sandbox.Mount(place.home, HOME, writable=True),
        sandbox.Mount(place.tmp, "/tmp", writable=True),  # noqa: S108
        sandbox.Mount(script, _COMMAND),
        *(sandbox.Mount(place.app / name, f"{APP}/{name}") for name in fixed),
        *mounts,
    ]
    outcome = sandbox.run(
        sandbox.Command(
            words,
            own if sandboxed else [],
            f"{app}/{workdir}",
            bounds.limits(),
            {"HOME": home, **(environment or {})},
            descriptors or {},
            network=network,
            mode=mode,  # type: ignore[arg-type]
        )
    )
    about = {"mode": mode, "bounds": outcome.bounds}
    output = outcome.stdout + (b"\n" if outcome.stdout and outcome.stderr else b"") + outcome.stderr
    return Ended(_code(outcome), outcome.stopped_by, output, outcome.wall_s, outcome.cpu_s, about)


def _code(outcome: sandbox.Outcome) -> int:
    if outcome.stopped_by:
        return _TIMED_OUT
    return outcome.exit_code if outcome.exit_code is not None else _SIGNALLED + (outcome.signal or 0)
