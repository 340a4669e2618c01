"""The one tool of the code-only harness: execute_code, in the sandbox, in both of its forms."""

import json
import time
from typing import Any, NamedTuple

from regrade import sandbox
from regrade.harnesses import Context, fences
from regrade.models.types import ChatResponse
from regrade.workspace import INSIDE

INTERPRETERS = {"python": ["python", "-"], "shell": ["sh", "-s"]}
_LANGUAGES = {"python": "python", "python3": "python", "py": "python"} | dict.fromkeys(("shell", "sh", "bash"), "shell")
_SHOWN_CHARS = 8000

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


def calls_in(response: ChatResponse) -> list[Call]:
    """The calls in an answer, native ones first; none means that the model is done."""
    if response.tool_calls:
        return [_native(call) for call in response.tool_calls]
    blocks = [block for block in fences.blocks(response.text) if block.info]
    if not blocks:
        return []
    if len(blocks) > 1:
        return [Call("", fault=f"{len(blocks)} fenced blocks, expected exactly one; nothing was run")]
    language = _LANGUAGES.get(blocks[0].info.split()[0].lower(), "")
    if not language:
        return [Call("", fault=f"a block of {blocks[0].info!r}, expected python or shell; nothing was run")]
    if not blocks[0].closed:
        return [Call("", fault="a block that is not closed; nothing was run")]
    return [Call("", language, blocks[0].content)]


def _native(call: dict[str, str]) -> Call:
    if call["name"] != "execute_code":
        return Call(call["id"], fault=f"unknown tool {call['name']!r}, expected execute_code")
    try:
        arguments = json.loads(call["arguments"])
    except ValueError as error:
        return Call(call["id"], fault=f"the arguments are not JSON: {error}")
    language = _LANGUAGES.get(str(arguments.get("language", "python")).lower(), "") if isinstance(arguments, dict) else ""
    if not language or not isinstance(arguments.get("code"), str):
        return Call(call["id"], fault="expected {language: python or shell, code: a string}")
    return Call(call["id"], language, arguments["code"])


class Ran(NamedTuple):
    """What a call brought back, and what the sandbox says about it."""

    observation: str
    about: dict[str, Any]


def execute(context: Context, call: Call, seconds_left: float) -> Ran:
    """Run one call on the trial's workspace, within the tool's limits and what is left of the trial's."""
    limits = context.config.limits
    wall = max(0.1, min(limits["tool_wall_s"], seconds_left))
    command = sandbox.Command(
        argv=INTERPRETERS[call.language],
        mounts=[sandbox.Mount(context.workspace, INSIDE, writable=True)],
        cwd=INSIDE,
        limits=sandbox.Limits(
            wall_s=wall,
            cpu_s=limits["tool_cpu_s"],
            memory_mb=int(limits["tool_memory_mb"]),
            processes=256,
            disk_mb=int(limits["workspace_mb"]),
        ),
        stdin=call.code.encode("utf-8", "backslashreplace"),
        mode=context.config.sandbox,
    )
    started = time.monotonic()
    outcome = sandbox.run(command)
    about = {"mode": context.config.sandbox, "bounds": outcome.bounds, "cpu_s": outcome.cpu_s}
    return Ran(_observation(outcome, time.monotonic() - started), about)


def _observation(outcome: sandbox.Outcome, measured_s: float) -> str:
    end = f"exit code {outcome.exit_code}" if outcome.exit_code is not None else f"ended by signal {outcome.signal}"
    if outcome.stopped_by:
        end = f"stopped by the {outcome.stopped_by} limit after {measured_s:.0f} s"
    parts = [end]
    for name, content in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        if content:
            parts.append(f"{name}:\n{_shortened(content.decode('utf-8', 'backslashreplace'))}")
    return "\n".join(parts)


def _shortened(text: str) -> str:
    if len(text) <= _SHOWN_CHARS:
        return text.rstrip("\n")
    half = _SHOWN_CHARS // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters omitted ...\n{text[-half:]}".rstrip("\n")
