"""Run snakemake so that a killed run needs no unlocking by hand: what `make run` calls.

    python -m regrade.launch ARGUMENTS      the arguments of snakemake

One launcher at a time works in a folder (an flock that dies with its process). Whoever holds it ends the jobs that a
killed run left behind, so that no file has two writers, and only then takes Snakemake's stale lock away.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

STAGES = {
    f"regrade.{stage}"
    for stage in (
        *("inputs", "inputs.repository", "trial", "grade", "measure", "session", "verify", "score"),
        *("ask", "score_answers", "score_loop", "inputs.dataset", "records", "summary", "packs.pack_summary", "gates"),
        *("held_out.snapshot", "held_out.prove", "held_out.grade_patch", "harbor.bundle"),
    )
}
"""The modules that rules call."""
_SNAKEMAKE = [sys.executable, "-m", "snakemake"]
_GRACE_S = 10


def main(arguments: list[str]) -> int:
    """Snakemake's exit code; 1 with one line if another run is at work in this folder."""
    state = Path(".snakemake")
    state.mkdir(exist_ok=True)
    with (state / "regrade.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{Path.cwd()}: another run is at work here, expected one at a time: wait for it", file=sys.stderr)
            return 1
        locks = state / "locks"
        if locks.is_dir() and any(locks.iterdir()):
            running = [pid for pid, words in _processes_here() if any(word.endswith("snakemake") for word in words[:3])]
            if running:
                print(f"{Path.cwd()}: snakemake is at work here (process {running[0]}): wait for it", file=sys.stderr)
                return 1
            _end_orphans()
            unlocked = subprocess.run([*_SNAKEMAKE, "--unlock", *arguments], check=False, stdout=subprocess.DEVNULL)
            if unlocked.returncode:
                return unlocked.returncode
        return subprocess.run([*_SNAKEMAKE, *arguments], check=False).returncode


def _processes_here() -> Iterator[tuple[int, list[str]]]:
    """(pid, command line) of every process that works in this folder, but this one."""
    here = os.getcwd()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if int(entry.name) != os.getpid() and os.readlink(entry / "cwd") == here:
                yield int(entry.name), (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue


def _orphans() -> list[int]:
    return [pid for pid, words in _processes_here() if any(word in STAGES for word in words)]


def _end_orphans() -> None:
    """End jobs whose Snakemake was killed: asked first, then killed."""
    for signal_, seconds in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, _GRACE_S)):
        for pid in _orphans():
            os.kill(pid, signal_)
        until = time.monotonic() + seconds
        while _orphans() and time.monotonic() < until:
            time.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
