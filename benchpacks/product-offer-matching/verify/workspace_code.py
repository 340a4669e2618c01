"""How a verifier asks the code of a workspace: in a process of its own, judged by the values that come back.

Every pack with Python to verify holds this same file, because a pack must stand alone. A probe is source text that
defines `answer(...)`; it is told the arguments and never what is expected. The exit code of the process says nothing.
"""

import argparse
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

PACK = Path(__file__).resolve().parents[1]
SECONDS = 20
LARGEST = 4_000_000
MOST_PROBLEMS = 10

_DRIVER = """
import json, os, sys
order = json.load(sys.stdin)
channel = os.dup(1)
os.dup2(2, 1)
sys.path.insert(0, order["workspace"])
probe = {}
exec(order["probe"], probe)
replies = []
for arguments in order["calls"]:
    try:
        reply = {"value": probe["answer"](*arguments)}
        json.dumps(reply, allow_nan=False)
    except Exception as error:
        reply = {"error": type(error).__name__}
    replies.append(reply)
content = (order["token"] + json.dumps(replies) + "\\n").encode()
while content:
    content = content[os.write(channel, content):]
"""


def raises(name: str) -> dict[str, str]:
    """What is expected of a call that must raise an exception of this name."""
    return {"error": name}


def verify(source: str, protected: Iterable[str], checks: Callable[[Path], Iterator[str]]) -> int:
    """Run a verifier: the contract's arguments in, JSON to --output, the exit code out (0 passed, 1 failed).

    `source` is the repository's folder in the pack, `protected` are patterns of its files that must stay as they
    are, and `checks` yields a sentence for everything that is wrong with a workspace; the first few are reported.
    """
    given = arguments()
    changed = _changed(PACK / source, given.workspace, protected)
    problems = [f"{name} was changed or removed, and is protected" for name in changed]
    problems = problems or list(islice(checks(given.workspace), MOST_PROBLEMS))
    report(given.output, {"case": given.case, "problems": problems})
    return 1 if problems else 0


def report(output: Path, content: dict[str, Any]) -> None:
    """Write the verifier's JSON, and the same as text for the log."""
    output.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    print("\n".join(content["problems"]) or "every check passed")


def compare(workspace: Path, probe: str, cases: list[tuple[list[Any], Any]]) -> Iterator[str]:
    """A sentence for each (arguments, expected) pair that the workspace answers otherwise."""
    replies = ask(workspace, probe, [arguments for arguments, _ in cases])
    for (arguments, expected), reply in zip(cases, replies, strict=True):
        wanted = expected if isinstance(expected, dict) and set(expected) == {"error"} else {"value": expected}
        if _text(reply) != _text(wanted):
            yield f"{_text(arguments):.300}: got {_text(reply):.300}, expected {_text(wanted):.300}"


def ask(workspace: Path, probe: str, calls: list[list[Any]]) -> list[dict[str, Any]]:
    """One reply a call, in order and from one process: {"value": ...}, or {"error": the exception's name}."""
    token = secrets.token_hex(16)
    order = {"workspace": str(workspace), "probe": probe, "calls": calls, "token": token}
    with tempfile.TemporaryDirectory() as folder:
        output, trouble = run([sys.executable, "-I", "-B", "-c", _DRIVER], Path(folder), json.dumps(order).encode())
    # Only the driver's last line starts with the token, so what the code printed or left unfinished is no answer.
    last = output.decode("utf-8", "replace").rstrip("\n").rpartition("\n")[2]
    try:
        replies = json.loads(last.removeprefix(token)) if last.startswith(token) else None
    except ValueError:
        replies = None
    if isinstance(replies, list) and len(replies) == len(calls):
        return replies
    return [{"error": f"no answer: {trouble}"}] * len(calls)


def run(
    argv: list[str],
    folder: Path,
    stdin: bytes = b"",
    seconds: float = SECONDS,
    environment: dict[str, str] | None = None,
) -> tuple[bytes, str]:
    """What a process wrote to stdout, and in words how it ended. Its whole group is ended with it."""
    # Files, because a process that was left behind could hold a pipe open.
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        asked.write(stdin)
        asked.seek(0)
        process = subprocess.Popen(
            argv, cwd=folder, env=environment or {}, stdin=asked, stdout=out, stderr=err, start_new_session=True
        )
        try:
            end = f"the process ended with exit code {process.wait(seconds)}"
        except subprocess.TimeoutExpired:
            end = f"the process was stopped after {seconds} s"
        _kill(process)
        out.seek(0)
        err.seek(0)
        return out.read(LARGEST), f"{end}; {err.read(LARGEST)[-500:].decode('utf-8', 'replace').strip()}"


def arguments() -> argparse.Namespace:
    """The arguments that every verifier is called with."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("case", "pack-id", "pack-version", "source-fixture-id"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("workspace", "patch", "output"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    return parser.parse_args()


def _changed(source: Path, workspace: Path, protected: Iterable[str]) -> Iterator[str]:
    for path in sorted({path for pattern in protected for path in source.glob(pattern) if path.is_file()}):
        name = path.relative_to(source)
        found = workspace / name
        if found.is_symlink() or not found.is_file() or found.read_bytes() != path.read_bytes():
            yield name.as_posix()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _text(value: Any) -> str:
    # As text, true is not 1 and 1.0 is not 1.
    return json.dumps(value, sort_keys=True)
