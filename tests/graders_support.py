"""Graders, workspaces and verdicts for tests: everything really runs in the sandbox."""

from pathlib import Path

from artifact_support import write_files
from regrade.graders import GraderLimits, Verdict, grade_workspace

ARTIFACT = "output/answer.txt"

HEAD = """\
import json, os, sys, time
from swebench.artifact_models import GradeResult
ARTIFACT = "output/answer.txt"
"""

COMPARE = """
def grade(scratch_dir):
    text = (scratch_dir / ARTIFACT).read_text().strip()
    inputs = (scratch_dir / "data.csv").read_text()
    return GradeResult(text == "42" and inputs == "a,b\\n", float(text == "42"), f"{len(text)} characters")
"""

QUICK = GraderLimits(wall_s=30, memory_mb=1024, artifact_mb=1)


class Scene:
    """A grader, pristine inputs and a workspace with the right answer, below one folder."""

    def __init__(self, folder: Path, grader: str = COMPARE) -> None:
        self.folder = folder
        self.grader, self.pristine, self.workspace = folder / "grader", folder / "pristine", folder / "workspace"
        write_files(self.grader, {"hidden.py": HEAD + grader})
        write_files(self.pristine, {"data.csv": "a,b\n"})
        write_files(self.workspace, {"data.csv": "a,b\n", ARTIFACT: "42\n"})

    def grade(self, limits: GraderLimits = QUICK, artifact: str = ARTIFACT) -> Verdict:
        """The verdict on the workspace as it is now."""
        scratch = self.folder / "scratch"
        verdict = grade_workspace(self.grader, self.pristine, self.workspace, artifact, scratch, limits)
        assert not scratch.exists()
        return verdict
