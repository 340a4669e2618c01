"""The stage `grade`: a trial's outcome and workspace to a grade file."""

import json
import py_compile
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from artifact_support import write_files
from graders_support import ARTIFACT, Scene
from regrade import digests, files, grade, schemas
from regrade.errors import StaleError
from regrade.graders import grade_workspace

DIGESTS = {"task": "task-1", "request": None, "work": "work-1", "trial": "trial-1"}


class Stage:
    """A scene with a trial's outcome beside it, graded by the stage."""

    def __init__(self, folder: Path, grader: str | None = None) -> None:
        self.scene = Scene(folder, grader) if grader else Scene(folder)
        self.trial: dict[str, Any] = {
            "status": "ok", "reason": "", "message": "", "digests": DIGESTS, "finish_reason": None, "special_files": [],
        }  # fmt: skip
        self.spec: dict[str, Any] = {
            "task": {
                "id": "algorithmic__demo", "collection": "algorithmic", "case": "demo",
                "grader": str(self.scene.grader), "output_artifact": ARTIFACT,
            },
            "pristine": str(self.scene.pristine),
            "inputs": str(folder / "inputs.json"),
            "trial": str(folder / "trial.json"),
            "workspace": str(self.scene.workspace),
            "output": str(folder / "run/grade/demo/rep-001.json"),
            "logs": str(folder / "run/verify/demo"),
            "errors": str(folder / "errors.jsonl"),
            "digests": {"grader": digests.of_folder(self.scene.grader), "code": "code-1"},
            "digest": "spec-1",
            "attempt": 0,
            "limits": {"grader_wall_s": 30, "grader_memory_mb": 1024, "artifact_mb": 1},
            "sandbox": "bubblewrap",
        }  # fmt: skip

    @property
    def output(self) -> Path:
        return Path(self.spec["output"])

    @property
    def errors(self) -> list[Any]:
        return list(files.read_jsonl(Path(self.spec["errors"])))

    def run(self, **trial: Any) -> dict[str, Any]:
        """The grade file, which keeps to its schema. Like Snakemake, removes the old one first."""
        self.output.unlink(missing_ok=True)
        files.write_json(Path(self.spec["trial"]), {**self.trial, **trial})
        grade.main(json.dumps(self.spec))
        made: dict[str, Any] = files.read_json(self.output)
        assert [] == [error.message for error in schemas.errors("grade", made)]
        return made

    def edit_grader(self, **edited: str) -> str:
        """Write files of the grader and plan anew; the grader's digest."""
        write_files(self.scene.grader, {f"{name}.py": text for name, text in edited.items()})
        self.spec["digests"]["grader"] = digests.of_folder(self.scene.grader)
        return str(self.spec["digests"]["grader"])

    def answer(self, text: str) -> None:
        """Change the artifact."""
        (self.scene.workspace / ARTIFACT).write_text(text)


def verdict_of(made: dict[str, Any]) -> tuple[Any, ...]:
    """What a grade says."""
    return made["passed"], made["score"], made["status"], made["reason"]


def test_as_a_command(tmp_path: Path) -> None:
    """The stage runs as a module, and its file says what it was made from."""
    stage = Stage(tmp_path)
    files.write_json(Path(stage.spec["trial"]), stage.trial)
    subprocess.run([sys.executable, "-m", "regrade.grade", json.dumps(stage.spec)], check=True)
    made = files.read_json(stage.output)
    assert (True, 1.0, "passed", "") == verdict_of(made)
    assert {**DIGESTS, **stage.spec["digests"]} == made["digests"]
    assert ("algorithmic__demo", 0, [], "bubblewrap") == (
        made["task"], made["attempt"], made["earlier"], made["sandbox"]["mode"],
    )  # fmt: skip
    assert made["graded_at"].endswith("+00:00")
    assert {"rep-001.json", "rep-001.history.jsonl"} == {path.name for path in stage.output.parent.iterdir()}


def test_trial_that_ended_in_an_error(tmp_path: Path) -> None:
    """Errors and trials that were not run pass through ungraded, and are no grading errors."""
    stage = Stage(tmp_path, "\nraise SystemExit\n")
    for status, reason in (("error", "provider_error"), ("not_run", "budget")):
        made = stage.run(status=status, reason=reason, message="because")
        assert (None, None, status, reason) == verdict_of(made)
        assert ("because", None, None) == (made["message"], made["sandbox"], made["detail"])
    assert [] == stage.errors


@pytest.mark.parametrize("hint", ["truncated", "no_response", "refusal", "agent_timeout"])
def test_hint_explains_a_failure_and_spoils_no_pass(tmp_path: Path, hint: str) -> None:
    """How a trial ended is why it failed, if it failed; work that was done in time passes, and both are said."""
    stage = Stage(tmp_path)
    made = stage.run(reason=hint, message="after 10 s")
    assert (True, 1.0, "passed", "") == verdict_of(made)
    assert f"passed, though the trial ended with {hint}: after 10 s" == made["message"]
    stage.answer("43")
    made = stage.run(reason=hint, message="after 10 s")
    assert (False, 0.0, "failed", hint) == verdict_of(made)
    assert ("2 characters", "after 10 s") == (made["detail"], made["message"])
    (stage.scene.workspace / ARTIFACT).unlink()
    assert (False, 0.0, "failed", hint) == verdict_of(stage.run(reason=hint))


def test_enforced_budget_fails_what_passed(tmp_path: Path) -> None:
    """A trial over its budget has failed, and the detail still says how its artifact was graded."""
    made = Stage(tmp_path).run(reason="budget_exceeded", message="4 of 3 code runs")
    assert (False, 0.0, "failed", "budget_exceeded") == verdict_of(made)
    assert "over its budget; what it left was graded passed, score 1: 2 characters" == made["detail"]


def test_grader_error_wins_over_a_hint(tmp_path: Path) -> None:
    """A grader that raises is an error however the trial ended."""
    made = Stage(tmp_path, "\nraise ValueError('mine')\n").run(reason="truncated")
    assert (None, None, "error", "grader_error") == verdict_of(made)


def test_errors_are_counted_and_told(tmp_path: Path) -> None:
    """A grading error leaves a row to count retries from, its traceback, and its last verdict in the history."""
    stage = Stage(tmp_path, "\ndef grade(scratch_dir):\n    print('looking')\n    raise ValueError('mine')\n")
    made = stage.run()
    assert "the grader raised ValueError: mine" == made["message"]
    assert "raise ValueError('mine')" in made["traceback"]
    rows = [(row["stage"], row["digest"], row["reason"], row["message"]) for row in stage.errors]
    assert [("grade", "spec-1", "grader_error", "the grader raised ValueError: mine")] == rows
    assert "looking\n" == (tmp_path / "run/verify/demo/rep-001.stdout.log").read_text()
    assert not (tmp_path / "run/verify/demo/rep-001.stderr.log").exists()
    stage.edit_grader(hidden="def grade(scratch_dir):\n    return None\n")
    stage.run()
    assert not (tmp_path / "run/verify/demo/rep-001.stdout.log").exists()
    assert 2 == len(stage.errors)


def test_earlier_verdicts_stay(tmp_path: Path) -> None:
    """Verdicts of other graders stand beside the new one, oldest first; the same grading again adds nothing."""
    stage = Stage(tmp_path)
    first = stage.edit_grader(helper="1")
    stage.run()
    assert [] == stage.run()["earlier"]
    stage.answer("43")
    second = stage.edit_grader(helper="2")
    made = stage.run()
    assert [(True, "passed", first)] == [
        (row["passed"], row["status"], row["digests"]["grader"]) for row in made["earlier"]
    ]
    assert made == {**stage.run(), **{name: made[name] for name in ("graded_at", "cpu_s", "wall_s")}}
    third = stage.edit_grader(helper="3")
    assert [first, second] == [row["digests"]["grader"] for row in stage.run()["earlier"]]
    stage.edit_grader(helper="1")
    assert [second, third] == [row["digests"]["grader"] for row in stage.run()["earlier"]]


def test_grader_that_is_not_the_planned_one(tmp_path: Path) -> None:
    """A grader edited since the plan, or while it grades, ends the job in one line and leaves no grade."""
    stage = Stage(tmp_path)
    files.write_json(Path(stage.spec["trial"]), stage.trial)
    write_files(stage.scene.grader, {"helper.py": "edited"})
    command = [sys.executable, "-m", "regrade.grade", json.dumps(stage.spec)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (1, f"{stage.scene.grader}: changed while it was graded; run again\n") == (done.returncode, done.stderr)
    assert not stage.output.exists()


def test_grader_edited_while_it_grades(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was graded with half an edit is not believed."""
    stage = Stage(tmp_path)

    def editing(**given: Any) -> Any:
        write_files(stage.scene.grader, {"helper.py": "edited"})
        return grade_workspace(**given)

    monkeypatch.setattr(grade, "grade_workspace", editing)
    with pytest.raises(StaleError, match="run again"):
        stage.run()
    assert not stage.output.exists()


def test_detail_is_cut_for_storage(tmp_path: Path) -> None:
    """A grade holds 500 characters of the detail."""
    made = Stage(tmp_path, "\ndef grade(scratch_dir):\n    return GradeResult(False, 0.5, 'x' * 5000)\n").run()
    assert (500, "wrong_answer", 0.5) == (len(made["detail"]), made["reason"], made["score"])


def test_artifact_that_was_a_fifo(tmp_path: Path) -> None:
    """An artifact that was taken out of the workspace because it was no file was not missing."""
    stage = Stage(tmp_path)
    (stage.scene.workspace / ARTIFACT).unlink()
    assert "missing_artifact" == stage.run()["reason"]
    assert "invalid_format" == stage.run(special_files=[ARTIFACT])["reason"]


def test_broken_machine_is_a_sandbox_error(tmp_path: Path) -> None:
    """A workspace that is gone is an error to try again, not a wrong answer."""
    stage = Stage(tmp_path)
    stage.scene.workspace.rename(tmp_path / "gone")
    assert (None, None, "error", "sandbox_error") == verdict_of(stage.run())
    assert ["sandbox_error"] == [row["reason"] for row in stage.errors]


def test_what_a_killed_grading_left_is_removed(tmp_path: Path) -> None:
    """Leftovers of a killed job are neither seen by the grader nor kept."""
    stage = Stage(tmp_path)
    write_files(stage.output.parent, {".rep-001.grading/view/data.csv": "stale"})
    assert stage.run()["passed"]
    assert not (stage.output.parent / ".rep-001.grading").exists()


def test_without_a_sandbox(tmp_path: Path) -> None:
    """Where the user allowed it, grading works without bubblewrap, on copies, and the grade says so."""
    write = "    (scratch_dir / 'data.csv').write_text('x')\n"
    stage = Stage(tmp_path, f"\ndef grade(scratch_dir):\n{write}    return GradeResult(True, 1.0, '')\n")
    stage.spec["sandbox"] = "none"
    made = stage.run()
    assert (True, "none") == (made["passed"], made["sandbox"]["mode"])
    assert "a,b\n" == (stage.scene.pristine / "data.csv").read_text()


def test_stale_bytecode_does_not_run_without_a_sandbox(tmp_path: Path) -> None:
    """A cached helper that no longer matches its source is not what grades, as in the sandbox."""
    body = "\ndef grade(scratch_dir):\n    import helper\n    return GradeResult(helper.SAYS, float(helper.SAYS), '')\n"
    stage = Stage(tmp_path, body)
    helper = stage.scene.grader / "helper.py"
    helper.write_text("SAYS = False\n")
    py_compile.compile(str(helper), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    stage.edit_grader(helper="SAYS = True\n")
    stage.spec["sandbox"] = "none"
    made = stage.run()
    assert made["passed"], made["message"]


def test_no_heavy_imports() -> None:
    """A grading job imports nothing that costs more than grading."""
    heavy = ("jsonschema", "asyncio", "logging", "pandas", "yaml", "aiohttp")
    code = f"import sys, regrade.grade; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout
