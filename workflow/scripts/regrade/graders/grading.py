"""Grading one workspace: build what the grader sees, run the grader in a sandbox, understand its answer."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regrade import sandbox
from regrade.errors import SandboxError
from regrade.graders import static, view
from regrade.graders.broker import Broker
from regrade.graders.channel import Channel
from regrade.graders.places import GRADER, ON_PATH, PYTHON, RUNNER, WORKSPACE, program, seen
from regrade.graders.verdict import NOT_PRODUCED, reason_of
from regrade.verdicts import Verdict, broken, failed

PROCESSES = 256
DISK_MB = 256
CPU_PER_WALL = 8
"""A grader may compute on as many cores as it likes; the wall limit is the one that is meant."""

LARGEST_RESULT = 16 * 1024 * 1024
SHOWN_STDERR = 2000


@dataclass(frozen=True)
class GraderLimits:
    """Seconds by the clock, MiB of memory, MiB of the artifact."""

    wall_s: float = 120
    memory_mb: int = 4096
    artifact_mb: float = 100


@dataclass(frozen=True)
class Conditions:
    """What must make no difference to a grader."""

    hash_seed: str = "0"
    timezone: str = "UTC"
    clock_shift_s: float = 0


USUAL = Conditions()
USUAL_LIMITS = GraderLimits()


def grade_workspace(
    grader: Path,
    pristine: Path,
    workspace: Path,
    output_artifact: str,
    scratch: Path,
    limits: GraderLimits = USUAL_LIMITS,
    mode: sandbox.Mode = "bubblewrap",
    conditions: Conditions = USUAL,
) -> Verdict:
    """Grade what a trial left in `workspace` with the grader in the folder `grader`.

    `scratch` names a folder that does not exist; it is used and removed (best on the workspace's file system).
    Never raises for what agent or grader did, nor for a broken sandbox or a full disk: that is a verdict too.
    """
    try:
        with _scratch(scratch):
            transfer = view.copy_file if mode == "none" else view.link_file  # a link may be written through
            limit = int(limits.artifact_mb * 2**20)
            view.build(pristine, workspace, output_artifact, scratch / "view", limit, transfer)
            folder = _readable(grader, scratch, mode)
            mounts = [
                sandbox.Mount(scratch / "view", WORKSPACE),
                sandbox.Mount(folder, GRADER),
                *_without_caches(folder, scratch),
                program(RUNNER),
                program(ON_PATH),
            ]
            return _run(mounts, scratch, limits, mode, conditions)
    except view.MissingError:
        return failed("missing_artifact", NOT_PRODUCED)
    except view.UnfitError as unfit:
        return failed("invalid_format", str(unfit))
    except (SandboxError, OSError) as error:
        return broken("sandbox_error", str(error))


@contextmanager
def _scratch(folder: Path) -> Iterator[None]:
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
        folder.chmod(0o755)
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _readable(grader: Path, scratch: Path, mode: sandbox.Mode) -> Path:
    """The grader folder, or a copy of it where its modes would keep the sandbox's user out.

    Always a copy without a sandbox, where no mount could cover __pycache__.
    """
    entries = [grader, *grader.rglob("*")]
    if mode != "none" and all(path.stat().st_mode & 0o004 for path in entries if not path.is_symlink()):
        return grader
    copy = scratch / "grader"
    shutil.copytree(grader, copy, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [copy, *copy.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    return copy


def _without_caches(grader: Path, scratch: Path) -> Iterator[sandbox.Mount]:
    """Cover __pycache__: no digest knows what lies there, so it must not be what runs."""
    for cache in grader.rglob("__pycache__"):
        empty = scratch / "empty"
        empty.mkdir(exist_ok=True)
        empty.chmod(0o755)
        yield sandbox.Mount(empty, f"{GRADER}/{cache.relative_to(grader)}")


def _run(
    mounts: list[sandbox.Mount], scratch: Path, limits: GraderLimits, mode: sandbox.Mode, conditions: Conditions
) -> Verdict:
    looks = static.inspect(mounts[1].source)
    broker = Broker(mounts[0].source, limits.wall_s, mode) if looks.calls_agent else None
    cwd = scratch / "cwd"
    cwd.mkdir()
    with broker or nullcontext(), Channel(LARGEST_RESULT) as channel:
        order = {
            "grader": seen(mounts[1], mode),
            "workspace": seen(mounts[0], mode),
            "on_path": [seen(mounts[-1], mode)],
            "result": channel.descriptor,
            "clock": conditions.clock_shift_s,
        }
        command = sandbox.Command(
            argv=[*PYTHON, seen(mounts[-2], mode), json.dumps(order)],
            mounts=mounts,
            cwd=str(cwd) if mode == "none" else "/tmp",  # noqa: S108 (a private tmpfs inside)
            limits=sandbox.Limits(
                wall_s=limits.wall_s,
                cpu_s=CPU_PER_WALL * limits.wall_s,
                memory_mb=limits.memory_mb,
                processes=PROCESSES,
                disk_mb=DISK_MB,
            ),
            environment={"PYTHONHASHSEED": conditions.hash_seed, "TZ": conditions.timezone},
            pass_fds={channel.descriptor: ""} | ({broker.descriptor: "REGRADE_BROKER"} if broker else {}),
            mode=mode,
        )
        outcome = sandbox.run(command)
    found = _understood(channel, outcome, limits, looks.in_process)
    if broker and broker.failure:
        found = broken("sandbox_error", broker.failure)
    return replace(
        found,
        in_process=looks.in_process,
        cpu_s=None if outcome.cpu_s is None else outcome.cpu_s + (broker.cpu_s if broker else 0.0),
        wall_s=outcome.wall_s,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        bounds=outcome.bounds,
    )


def _understood(channel: Channel, outcome: sandbox.Outcome, limits: GraderLimits, in_process: bool) -> Verdict:
    """The verdict on the channel, or why there is none."""
    if channel.cut or channel.content.count(b"\n") > 1:
        if in_process:
            return failed("forged_result", "something beside the grader wrote to the grader's result channel")
        return broken("grader_error", "the grader wrote to the descriptor that is there for its verdict")
    if not channel.content.endswith(b"\n"):
        stderr = outcome.stderr[-SHOWN_STDERR:].decode(errors="replace")
        return replace(broken("grader_error", _ending(outcome, limits)), traceback=stderr)
    said = _parsed(channel.content)
    if "fault" in said:
        return replace(broken("grader_error", said["fault"]), traceback=said["traceback"])
    passed, score, detail = said["passed"], said["score"], said["detail"]
    if passed:
        return Verdict(True, score, detail, "passed")
    return Verdict(False, score, detail, "failed", reason_of(detail))


def _parsed(content: bytes) -> dict[str, Any]:
    """The runner's line, checked again: agent code inside a grader's process could have written it."""
    try:
        said = json.loads(content)
        if "fault" in said:
            return {"fault": str(said["fault"]), "traceback": str(said["traceback"])}
        passed, score, detail = said["passed"], said["score"], said["detail"]
        if type(passed) is bool and type(score) is float and 0 <= score <= 1 and type(detail) is str:
            return {"passed": passed, "score": score, "detail": detail}
    except (ValueError, RecursionError, KeyError, TypeError):
        pass
    return {"fault": "what came over the grader's result channel is no verdict", "traceback": ""}


def _ending(outcome: sandbox.Outcome, limits: GraderLimits) -> str:
    """How a grader ended that gave no verdict, with the limit that ended it and what was measured."""
    bounds = {
        "wall": f"{limits.wall_s:g} s by the clock",
        "cpu": f"{CPU_PER_WALL * limits.wall_s:g} s of CPU",
        "memory": f"{limits.memory_mb} MB of memory",
        "processes": f"{PROCESSES} processes",
        "disk": f"{DISK_MB} MB written",
    }
    after = f"after {outcome.wall_s:.1f} s"
    if outcome.stopped_by:
        limit = bounds.get(outcome.stopped_by, "")
        return f"the grader was stopped by its {outcome.stopped_by} limit ({limit}) {after}, without a verdict"
    if outcome.signal:
        return f"the grader was ended by signal {outcome.signal} {after}, without a verdict"
    return f"the grader ended its process (exit code {outcome.exit_code}) {after}, without a verdict"
