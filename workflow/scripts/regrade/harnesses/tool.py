"""The one tool of the code-only harness: execute_code, in the sandbox, in both of its forms."""

import dataclasses
import json
import re
import shutil
from typing import Any, NamedTuple

from regrade import sandbox
from regrade.errors import SandboxError
from regrade.harnesses import Context, fences
from regrade.held_out.app import APP
from regrade.models.types import ChatResponse
from regrade.workspace import INSIDE

PROCESSES = 256
SHOWN_KB = 8
"""What a model is shown of stdout and of stderr each: head and tail."""

# The whole script is read before any of it runs, so that a command which reads stdin does not eat the rest.
_SHELL = ["bash" if shutil.which("bash") else "sh", "-c", 'eval "$(cat)"']
INTERPRETERS = {"python": ["python", "-"], "shell": _SHELL}
_LANGUAGES = {"python": "python", "python3": "python", "py": "python"} | dict.fromkeys(("shell", "sh", "bash"), "shell")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

DEFINITION = {
    "type": "function",
    "function": {
        "name": "execute_code",
        "description": f"Run code in {INSIDE}. Files stay between calls, processes and variables do not.",
        "parameters": {
            "type": "object",
            "properties": {
                "language": {"type": "string", "enum": sorted(INTERPRETERS)},
                "code": {"type": "string"},
            },
            "required": ["language", "code"],
        },
    },
}

TEXT_FORM = (
    "To run code, answer with exactly one fenced block that starts with ```python or ```shell, and nothing behind it. "
    "When the artifact is written, answer without any fenced block."
)


class Call(NamedTuple):
    """One wish to run code. `fault` says why it cannot be granted; then there is no code."""

    id: str
    language: str = ""
    code: str = ""
    fault: str = ""


def calls_in(response: ChatResponse, text_form: bool) -> list[Call]:
    """The calls in an answer, native ones or (where `text_form` holds) its block; none means that the model is done."""
    if response.tool_calls:
        return [_native(call) for call in response.tool_calls]
    blocks = fences.blocks(response.text) if text_form else []
    return [_in_text(blocks)] if blocks else []


def _in_text(blocks: list[fences.Block]) -> Call:
    if len(blocks) > 1:
        return Call("", fault=f"{len(blocks)} fenced blocks, expected exactly one")
    tag = (blocks[0].info.split() or [""])[0]
    language = _LANGUAGES.get(tag.lower(), "")
    if not language:
        return Call("", fault=f"a block of {tag!r}, expected python or shell")
    if not blocks[0].closed:
        return Call("", fault="a block that is not closed")
    return Call("", language, blocks[0].content)


def _native(call: dict[str, str]) -> Call:
    if call["name"] != "execute_code":
        return Call(call["id"], fault=f"unknown tool {call['name']!r}, expected execute_code")
    arguments = arguments_of(call)
    if arguments is None:
        return Call(call["id"], fault="the arguments are no JSON object, expected {language, code}")
    language = _LANGUAGES.get(str(arguments.get("language", "python")).lower(), "")
    if not language or not isinstance(arguments.get("code"), str):
        return Call(call["id"], fault="expected {language: python or shell, code: a string}")
    return Call(call["id"], language, arguments["code"])


def arguments_of(call: dict[str, str]) -> dict[str, Any] | None:
    """A native call's arguments, None if they are no JSON object."""
    try:
        arguments = json.loads(call["arguments"])
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


class Ran(NamedTuple):
    """What a call brought back, how long it took in seconds, and what the sandbox says about it."""

    observation: str
    wall_s: float
    about: dict[str, Any]


def limits_of(context: Context, seconds_left: float) -> sandbox.Limits:
    """What bounds one call: the tool's limits, and what is left of the trial's time."""
    limits = context.config.limits
    return sandbox.Limits(
        wall_s=max(0.1, min(limits["tool_wall_s"], seconds_left)),
        cpu_s=limits["tool_cpu_s"],
        memory_mb=int(limits["tool_memory_mb"]),
        processes=PROCESSES,
        disk_mb=int(limits["workspace_mb"]),
        output_kb=SHOWN_KB,
        bound_addresses=not _is_repository(context),
    )


def cause(context: Context, calls: list[Call], limits: sandbox.Limits) -> dict[str, Any]:
    """All that the result of the last of an answer's calls depends on, beside the conversation so far."""
    ran = [[call.language, call.code] for call in calls]
    about = {"task": context.spec["task"]["digest"], "sandbox": context.config.sandbox}
    return {**about, "calls": ran, "limits": dataclasses.asdict(limits)}


def execute(context: Context, call: Call, limits: sandbox.Limits) -> Ran:
    """Run one call on the trial's workspace. Raises SandboxError where that cannot be done."""
    require_workspace(context)
    outcome = sandbox.run(
        sandbox.Command(
            argv=INTERPRETERS[call.language],
            mounts=[sandbox.Mount(context.workspace, place, writable=True) for place in _places(context)],
            cwd=INSIDE,
            limits=limits,
            stdin=call.code.encode("utf-8", "backslashreplace"),
            mode=context.config.sandbox,  # type: ignore[arg-type]
        )
    )
    about = {"mode": context.config.sandbox, "bounds": outcome.bounds, "cpu_s": outcome.cpu_s}
    return Ran(_observation(outcome, limits), round(outcome.wall_s, 6), about)


def _is_repository(context: Context) -> bool:
    """Whether the workspace is a repository that was set up, whose programs may be of any kind."""
    return not context.output_artifact


def _places(context: Context) -> list[str]:
    """Where the workspace is: a repository also where it was set up, as its programs know no other place."""
    return [INSIDE, APP] if _is_repository(context) else [INSIDE]


def require_workspace(context: Context) -> None:
    """Raises SandboxError unless the workspace is still a folder: without a sandbox, code can do away with it."""
    if context.workspace.is_symlink() or not context.workspace.is_dir():
        raise SandboxError(f"{context.workspace}: the workspace is gone, code that ran without a sandbox removed it")


def _observation(outcome: sandbox.Outcome, limits: sandbox.Limits) -> str:
    end = f"exit code {outcome.exit_code}" if outcome.exit_code is not None else f"ended by signal {outcome.signal}"
    if outcome.stopped_by:
        bounds = {
            "wall": f" of {limits.wall_s:g} s",
            "cpu": f" of {limits.cpu_s:g} s",
            "memory": f" of {limits.memory_mb} MB",
            "processes": f" of {limits.processes}",
            "disk": f" of {limits.disk_mb} MB written",
        }
        end = f"stopped by the {outcome.stopped_by} limit{bounds.get(outcome.stopped_by, '')}"
        end += f" after {outcome.wall_s:.1f} s"
    parts = [end]
    for name, content in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        if content:
            parts.append(f"{name}:\n{_readable(content)}")
    return "\n".join(parts)


def _readable(output: bytes) -> str:
    """Output as text: what is no UTF-8, and signs that steer a terminal or end a C string, as escapes."""
    text = output.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text).rstrip("\n")
