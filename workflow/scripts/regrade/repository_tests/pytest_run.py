"""One run of pytest on a tree in the sandbox."""

import os
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regrade import sandbox
from regrade.repository_tests.report import Channel
from regrade.workspace import INSIDE, copy_file, make_folder

WALL_FACTOR = 3
"""By the clock a run may take so many times its CPU limit: a busy machine fails nobody."""

MEMORY_MB, PROCESSES, DISK_MB, OUTPUT_KB = 2048, 128, 200, 64
SHOWN = 1000
"""Characters of pytest's output that a model or a reader is shown."""

_PLUGIN = Path(__file__).with_name("report_plugin.py")
_PLUGIN_FOLDER = "/regrade-report"


@dataclass(frozen=True)
class Run:
    """How it ended: the sandbox's word on it, that in one phrase, and pytest's output as one bounded line."""

    outcome: sandbox.Outcome
    ending: str
    output: str
    about: dict[str, Any]


def root_of(tree: Path, mode: str) -> str:
    """The tree's path as the tests see it."""
    return INSIDE if mode == "sandboxed" else os.path.realpath(tree)


def run_pytest(
    tree: Path, argv: Sequence[str], seconds: float, mode: str, told: Channel | None = None, fixed: Sequence[str] = ()
) -> Run:
    """Run a command's tests; with a channel, our plugin in pytest reports over it. Raises SandboxError.

    `fixed` are files that the tests find read-only (in the sandbox).
    """
    root, sandboxed = root_of(tree, mode), mode == "sandboxed"
    options, places = "-p no:cacheprovider", [root]
    mounts = [sandbox.Mount(tree, INSIDE, writable=True)] if sandboxed else []
    mounts += [sandbox.Mount(tree / name, f"{INSIDE}/{name}") for name in fixed if sandboxed]
    if told:
        # A module of this name is nowhere in the repository, so nothing there can be loaded in its place.
        folder, name = tree.with_name("plugin"), f"regrade_report_{secrets.token_hex(8)}"
        make_folder(folder)
        copy_file(_PLUGIN, folder / f"{name}.py")
        options += f" -p {name}"
        places.append(_PLUGIN_FOLDER if sandboxed else str(folder))
        mounts += [sandbox.Mount(folder, _PLUGIN_FOLDER)] if sandboxed else []
    environment = {
        "PYTHONPATH": os.pathsep.join(places),
        "PYTEST_ADDOPTS": options,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    words = [str(word).replace("{python}", sys.executable) for word in argv]
    limits = sandbox.Limits(seconds * WALL_FACTOR, seconds, MEMORY_MB, PROCESSES, DISK_MB, OUTPUT_KB)
    # The format's environment knows no HOME.
    outcome = sandbox.run(sandbox.Command(
        ["/usr/bin/env", "-u", "HOME", *words], mounts, root, limits, environment,
        told.descriptors if told else {}, mode="bubblewrap" if sandboxed else "none",
    ))  # fmt: skip
    return Run(outcome, _ending(outcome, limits), _one_line(outcome, root), _about(outcome, sandboxed))


def _ending(outcome: sandbox.Outcome, limits: sandbox.Limits) -> str:
    if outcome.stopped_by:
        bound = {"wall": limits.wall_s, "cpu": limits.cpu_s}.get(outcome.stopped_by)
        named = f"{outcome.stopped_by} limit" + (f" of {bound:g} s" if bound else "")
        return f"the tests were stopped by the {named} after {outcome.wall_s:.1f} s by the clock"
    if outcome.signal is not None:
        return f"the tests were ended by signal {outcome.signal}"
    return f"the tests ended with exit code {outcome.exit_code}"


def _one_line(outcome: sandbox.Outcome, root: str) -> str:
    """What was printed, its head and its tail, without this machine's paths and what no reader can see."""
    text = (outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "replace")
    text = text.replace(root, INSIDE).replace(sys.prefix, "/python")
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2 - 3]} ... {text[-SHOWN // 2 + 2 :]}"


def _about(outcome: sandbox.Outcome, sandboxed: bool) -> dict[str, Any]:
    ran_in = {"mode": "bubblewrap" if sandboxed else "none", "bounds": outcome.bounds}
    return {"sandbox": ran_in, "in_process": True, "cpu_s": outcome.cpu_s, "wall_s": round(outcome.wall_s, 3)}
