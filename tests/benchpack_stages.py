"""The stages `verify` and `score` on one repetition of a pack's case, called as the rules call them."""

import json
from pathlib import Path
from typing import Any

from artifact_support import write_files
from regrade import files, layout, schemas, score, verify

DIGESTS = {"task": "task-1", "request": "request-1", "work": "work-1", "trial": "trial-1"}


def vectors(area: str) -> list[dict[str, Any]]:
    """The cases with known answers of one area."""
    path = Path(__file__).parent / f"vectors/benchpack/{area}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


class ScoreStage:
    """A case `c` of a pack `p`, whose repetition 1 is scored."""

    def __init__(self, folder: Path, **spec: Any) -> None:
        self.folder = folder
        self.spec: dict[str, Any] = {
            "task": {"id": "p/c", "collection": "p", "case": "c"},
            "scoring": None,
            "repetition": 1,
            "measured": str(folder / "task/c/measured.jsonl"),
            "output": str(folder / "grade/c/rep-001.json"),
            "errors": str(folder / "task/c/rep-001.errors.jsonl"),
            "digests": {"grader": "grader-1", "code": "code-1"},
            "digest": "score-1",
            "attempt": 0,
            **spec,
        }

    def answer(self, text: str, **row: Any) -> None:
        """Measure it."""
        measured = {"repetition": 1, "ok": True, "text": text, "reason": "", "message": "", "request": "request-1"}
        write_files(self.folder, {"task/c/measured.jsonl": json.dumps({**measured, "digest": "trial-1", **row}) + "\n"})

    def run(self, config: dict[str, Any] | None = None) -> dict[str, Any]:
        """The grade, which keeps to its schema."""
        score.main(json.dumps(self.spec), json.dumps(config or {}))
        made: dict[str, Any] = files.read_json(Path(self.spec["output"]))
        assert [] == [error.message for error in schemas.errors("grade", made)]
        return made

    @property
    def errors(self) -> list[str]:
        """Reasons of the errors that are to be tried again."""
        return [f"{row['stage']} {row['reason']}" for row in files.read_jsonl(Path(self.spec["errors"]))]


class VerifyStage:
    """A repo-task `c` of a pack `p` with a verify script, and what its trial left."""

    def __init__(self, folder: Path, script: str, patch: str = "--- a/x\n", **spec: Any) -> None:
        self.folder = folder
        self.pack, self.workspace = folder / "pack", folder / "workspace/c/rep-001"
        write_files(self.pack, {"verify/c.py": script, "oracle/c.diff": "secret", "fixtures/r/a.txt": "a\n"})
        write_files(self.workspace, {"a.txt": "changed\n"})
        write_files(folder, {"patch/c/rep-001.diff": patch})
        self.spec: dict[str, Any] = {
            "case": "c",
            "pack": {"id": "p", "version": "1", "folder": str(self.pack)},
            "script": "verify/c.py",
            "timeout_s": 20.0,
            "environment": None,
            "verifier_env": [],
            "source_fixture_id": "r",
            "workspace": str(self.workspace),
            "patch": str(folder / "patch/c/rep-001.diff"),
            "output": str(folder / "verify/c/rep-001.json"),
            "logs": str(folder / "verify/c"),
            "errors": str(folder / "task/c/rep-001.errors.jsonl"),
            "repetition": 1,
            "sandbox": "bubblewrap",
            "digest": "verify-1",
            "attempt": 0,
            **spec,
        }

    def run(self) -> dict[str, Any]:
        """What the script said, as it stands in the end."""
        verify.main(json.dumps(self.spec))
        said: dict[str, Any] = files.read_json(Path(self.spec["output"]))
        return said

    @property
    def outcome(self) -> dict[str, Any]:
        """How it ran."""
        found: dict[str, Any] = files.read_json(layout.verify_outcome(Path(self.spec["output"])))
        return found

    def log(self, name: str) -> bytes:
        """`stdout` or `stderr`."""
        return (self.folder / f"verify/c/rep-001.{name}.log").read_bytes()

    def grade(self, **trial: Any) -> dict[str, Any]:
        """The grade of a trial that ended so."""
        about = {"status": "ok", "reason": "", "message": "", "digests": DIGESTS, **trial}
        write_files(self.folder, {"task/c/rep-001.trial.json": json.dumps(about)})
        places = {"verify": self.spec["output"], "trial": str(self.folder / "task/c/rep-001.trial.json")}
        return ScoreStage(self.folder, scoring={"mode": "verify-script"}, **places).run()
