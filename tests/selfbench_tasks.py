"""A small SelfBench task, whole and sound, for tests to break; and the vectors of the format."""

import json
from pathlib import Path
from typing import Any

from regrade.formats import selfbench
from regrade.formats.selfbench.load import read

VECTORS = Path(__file__).parent / "vectors" / "selfbench"


def added(path: str, lines: int) -> str:
    """A patch that adds lines to a file."""
    body = "".join(f"+new {number}\n" for number in range(lines))
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,0 +1,{lines} @@\n{body}"


def definition(**changes: Any) -> dict[str, Any]:
    """A sound definition, an easy one, with fields changed."""
    return {
        "schemaVersion": 1,
        "difficulty": "easy",
        "taskId": "calc-pr-7",
        "repo": "example/calc",
        "baseCommit": "0123456789abcdef0123456789abcdef01234567",
        "workdir": ".",
        "setupCommand": "uv venv && uv pip install pytest",
        "testCommand": "pytest -q {tests}",
        "failToPass": ["tests/test_new.py"],
        "passToPass": ["tests/test_old.py"],
        "testPaths": ["tests/test_new.py"],
        "toolchains": ["python"],
        "sourcePr": 7,
        "sourceUrl": "https://github.com/example/calc/pull/7",
        "prompt": "Add a multiply operation to the calculator.",
        "timeouts": {"setupSeconds": 900, "agentSeconds": 2400, "testsSeconds": 900},
        "resources": {"cpus": 4, "memoryMb": 8192, "storageMb": 20480},
        **changes,
    }


def write(folder: Path, test_patch: str | None = None, gold_patch: str | None = None, **changes: Any) -> Path:
    """Write a task's three files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "definition.json").write_text(json.dumps(definition(**changes)))
    tests = added("tests/test_new.py", 3) if test_patch is None else test_patch
    gold = added("src/a.py", 20) if gold_patch is None else gold_patch
    (folder / "test.patch").write_bytes(tests.encode("utf-8", "surrogateescape"))
    (folder / "gold.patch").write_bytes(gold.encode("utf-8", "surrogateescape"))
    return folder


def write_vector(folder: Path, row: dict[str, Any]) -> Path:
    """Write the task that a vector describes."""
    return write(folder, row.get("testPatch"), row.get("goldPatch"), **row.get("definitionOverrides", {}))


def task(folder: Path, *patches: str | None, **changes: Any) -> selfbench.SelfbenchTask:
    """A task that was written into a folder, its path rules not looked at."""
    return read(write(folder, *patches, **changes))


def vectors(group: str) -> list[dict[str, Any]]:
    """The vectors of a group."""
    lines = (VECTORS / f"{group}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]
