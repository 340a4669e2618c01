"""Running somebody's agent command on a trial's workspace, in the sandbox, with network.

The agent finds the run directory at its own path, empty but for its workspace, its context (read-only) and the folder
in which it may write its model-call file. Only the workspace and that file are kept.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regrade import agent_files, agent_process, files, sandbox, workspace
from regrade.config import Config
from regrade.errors import RegradeError, SandboxError
from regrade.harnesses import Acted
from regrade.layout import TrialPaths
from regrade.sandbox import system
from regrade.sandbox.ownership import take_back

ARGV_VARIABLE = "BENCHPACK_EXTERNAL_AGENT_ARGV"

FILES = ("context.json", "model-calls.jsonl", "stdout.log", "stderr.log")
"""What stands in the task folder under the trial's name beside its outcome."""

OUTPUT_KB = 1024
PROCESSES = 1024
MEMORY_MB = 16384
"""Generous, since the bound on addresses that comes with it stops runtimes that reserve far more than they use."""

_SLACK_S = 5.0
"""From the end of an agent's time until the sandbox itself ends what is left."""

_STARTER = "/run/agent_process.py"


@dataclass(frozen=True)
class Agent:
    """A command, the names of variables that it gets from here, and host paths that it may read (its installation)."""

    argv: list[str]
    env: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Assignment:
    """Who works where on what. `workspace` is the folder that gets the trial's name when all is done.

    `about` holds the parts of the context that do not depend on places: pack, case, source, adapter, fixtures.
    `timeout_s` None is the configuration's limits.trial_wall_s.
    """

    agent: Agent
    paths: TrialPaths
    workspace: Path
    about: dict[str, Any]
    timeout_s: float | None = None

    @property
    def repetition(self) -> int:
        return int(self.paths.rep.removeprefix("rep-"))


def told(path: Path) -> str:
    """A path of a trial as its agent is told it: absolute."""
    return os.path.abspath(path)


def parse_argv(text: str | None) -> list[str]:
    """The command in a value of BENCHPACK_EXTERNAL_AGENT_ARGV. Raises RegradeError."""
    if text is None:
        raise RegradeError(f"{ARGV_VARIABLE} is required for harness id 'external-agent'")
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        words = None
    if not isinstance(words, list) or not words or not all(map(_is_word, words)):
        raise RegradeError(f"{ARGV_VARIABLE} must be a JSON array of non-empty strings without NUL bytes")
    return words


def _is_word(word: Any) -> bool:
    try:
        return isinstance(word, str) and word != "" and b"\0" not in os.fsencode(word)
    except UnicodeEncodeError:
        return False


def run(assignment: Assignment, config: Config, acted: Acted) -> None:
    """Run the agent until it ends or its time is up; none of its processes is left then.

    Writes the context and both logs, keeps the model-call file, and notes in `acted` how it went. An agent that fails
    is no error. Raises SandboxError if it cannot be started.
    """
    paths, secrets = assignment.paths, agent_files.Secrets(assignment.agent.env)
    for name in FILES:
        paths.log(name).unlink(missing_ok=True)
    missing = sandbox.available() if config.sandbox == "bubblewrap" else None
    if missing:
        acted.reason, acted.message = "code_not_allowed", f"code does not run here: {missing}"
        return
    seconds = assignment.timeout_s or config.limits["trial_wall_s"]
    about = json.dumps(context(assignment), sort_keys=True, indent=2, allow_nan=False)
    files.write_text(paths.log("context.json"), f"{about}\n")
    calls = paths.log("model-calls.jsonl")
    with (_in_place if config.sandbox == "none" else _apart)(assignment, config) as (mounts, task_folder):
        outcome = sandbox.run(_command(assignment, mounts, seconds, config))
        found = [agent_files.keep_model_calls(task_folder / calls.name, calls, secrets)]
    found += [f"wrote a key into {name}, taken out" for name in secrets.redact_folder(assignment.workspace)]
    _write_logs(paths, outcome, seconds, secrets)
    if outcome.signal == agent_process.NOT_STARTED:
        raise SandboxError(_not_started(outcome))
    if _is_late(outcome):
        acted.reason, acted.message = "agent_timeout", f"timeout_s = {seconds:g} s: the agent was still at work"
    acted.warnings += [f"agent: {what}" for what in (*found, _ending(outcome)) if what]
    acted.wall_s += outcome.wall_s
    cpu_s = outcome.cpu_s
    acted.sandbox = {"mode": config.sandbox, "bounds": outcome.bounds, "cpu_s": cpu_s, "wall_s": outcome.wall_s}


def context(assignment: Assignment) -> dict[str, Any]:
    """The content of the context file; docs/external_agents.md explains each field."""
    paths, about = assignment.paths, assignment.about
    return {
        "version": 1,
        "pack": about["pack"],
        "case": about["case"],
        "workspace": {"path": told(paths.workspace), **about["source"]},
        "run": {
            "output_dir": told(paths.run),
            "repetition": assignment.repetition,
            "task_stdout_path": told(paths.log("stdout.log")),
            "task_stderr_path": told(paths.log("stderr.log")),
            "run_metadata_path": None,
            "model_call_log_path": told(paths.log("model-calls.jsonl")),
        },
        "adapter": about["adapter"],
        "fixtures": about["fixtures"],
    }


def _command(assignment: Assignment, mounts: list[sandbox.Mount], seconds: float, config: Config) -> sandbox.Command:
    paths, agent = assignment.paths, assignment.agent
    appended = {
        "--workspace": told(paths.workspace),
        "--case": assignment.about["case"]["id"],
        "--output-dir": told(paths.run),
        "--repetition": str(assignment.repetition),
        "--context": told(paths.log("context.json")),
    }
    words = [*agent.argv, *(word for pair in appended.items() for word in pair)]
    return sandbox.Command(
        argv=["python", "-I", "-S", _STARTER, str(seconds), *words],
        mounts=[sandbox.Mount(Path(agent_process.__file__), _STARTER), *mounts],
        cwd=told(paths.workspace),
        limits=sandbox.Limits(
            wall_s=seconds + _SLACK_S,
            memory_mb=MEMORY_MB,
            processes=PROCESSES,
            disk_mb=int(config.limits["workspace_mb"]),
            output_kb=OUTPUT_KB,
        ),
        environment=_environment(agent),
        network=True,
        mode=config.sandbox,  # type: ignore[arg-type]
    )


def _environment(agent: Agent) -> dict[str, str]:
    missing = [name for name in agent.env if name not in os.environ]
    if missing:
        raise SandboxError(
            f"the agent's env names {', '.join(missing)}, not set here: export it, or take it out of the list"
        )
    return {name: os.environ[name] for name in agent.env}


@contextmanager
def _apart(assignment: Assignment, config: Config) -> Iterator[tuple[list[sandbox.Mount], Path]]:
    """What is mounted, and the folder that stands where the trial's task files are, empty but for the context."""
    paths = assignment.paths
    context_path = paths.log("context.json")
    folder = assignment.workspace.with_name(f".{paths.rep}.task")
    folder.mkdir()
    try:
        mounts = [
            sandbox.Mount(assignment.workspace, told(paths.workspace), writable=True),
            sandbox.Mount(folder, told(context_path.parent), writable=True),
            sandbox.Mount(context_path, told(context_path)),
        ]
        yield [*mounts, *_readable(assignment.agent, config)], folder
    finally:
        workspace.remove(folder)


@contextmanager
def _in_place(assignment: Assignment, config: Config) -> Iterator[tuple[list[sandbox.Mount], Path]]:
    """Without a sandbox the trial's places are the real ones: the unfinished workspace is linked to its later name."""
    paths, place = assignment.paths, assignment.workspace
    paths.workspace.symlink_to(place.name)
    try:
        yield [], paths.log("context.json").parent
        if place.is_symlink() or not place.is_dir():
            raise SandboxError(f"{place}: the workspace is gone, an agent that ran without a sandbox removed it")
        take_back(place)
    finally:
        workspace.remove(paths.workspace)


def _readable(agent: Agent, config: Config) -> Iterator[sandbox.Mount]:
    """Files that the command names by absolute paths, and what else the agent may read; never tasks or results."""
    hidden = [Path(folder).resolve() for folder in config.dirs.values()]
    for name in (*(word for word in agent.argv if Path(word).is_absolute() and Path(word).is_file()), *agent.read):
        place = Path(name).resolve()
        if any(place.is_relative_to(folder) or folder.is_relative_to(place) for folder in hidden):
            raise SandboxError(f"{name}: is, holds or lies among tasks or results, which an agent must not see")
        if not _is_shown(Path(name)):
            yield sandbox.Mount(place, name)


def _is_shown(path: Path) -> bool:
    """Whether every sandbox shows it; of the places above it the nearest decides."""
    above = [source for source, target in system.binds(True) if path.is_relative_to(target)]
    return bool(above) and above[-1] is not None


def _write_logs(paths: TrialPaths, outcome: sandbox.Outcome, seconds: float, secrets: agent_files.Secrets) -> None:
    stderr = outcome.stderr
    if _is_late(outcome):
        note = f"External subprocess harness timed out after {seconds:g} seconds; process stopped.\n"
        stderr += (b"\n" if stderr and not stderr.endswith(b"\n") else b"") + note.encode()
    files.write_bytes(paths.log("stdout.log"), secrets.redact(outcome.stdout))
    files.write_bytes(paths.log("stderr.log"), secrets.redact(stderr))


def _is_late(outcome: sandbox.Outcome) -> bool:
    return outcome.stopped_by == "wall" or outcome.signal == agent_process.TIME_IS_UP


def _ending(outcome: sandbox.Outcome) -> str:
    """What a reader of the result should know about an agent that ended before its time."""
    if _is_late(outcome) or outcome.exit_code == 0:
        return ""
    if outcome.exit_code is not None and not outcome.stopped_by:
        return f"ended with exit code {outcome.exit_code}"
    return f"was ended by {f'the {outcome.stopped_by} limit' if outcome.stopped_by else f'signal {outcome.signal}'}"


def _not_started(outcome: sandbox.Outcome) -> str:
    said = outcome.stderr.decode(errors="replace").strip()
    return (
        f"the agent's command cannot be started: {said}. The sandbox shows the system's programs, Regrade's Python, "
        "files that the command names by absolute paths, and what the agent's `read` lists"
    )
