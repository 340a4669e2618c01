"""Grade output/paths.jsonl against the reference: every path, none too many, its steps, and the order."""

from __future__ import annotations

from pathlib import Path

from regrade_artifact import GradeResult, graded, is_integer, is_object, is_texts, read_jsonl

ARTIFACT = "output/paths.jsonl"
TRUTH = read_jsonl(Path(__file__).parent, "reference_output.jsonl")
KEYS = {"path", "steps"}


def find_type_fault(row: object) -> str:
    """Return what is wrong with the shape of a row, or the empty text."""
    if not is_object(row, KEYS):
        return "must be an object with the keys path and steps and no other"
    if not is_texts(row["path"]):
        return "path must be a list of strings, not empty"
    if not is_integer(row["steps"]):
        return "steps must be an integer"
    return ""


def compare(rows: list[dict[str, object]], truth: list[dict[str, object]]) -> GradeResult:
    """Score the share of paths that are right, counting surplus ones; steps and order must be right as well to pass."""
    found = [tuple(row["path"]) for row in rows]
    known = {tuple(row["path"]) for row in truth}
    lacking, surplus = len(known - set(found)), len(set(found) - known)
    score = (len(known) - lacking) / max(len(known) + surplus, len(rows))
    if len(set(found)) != len(found):
        return GradeResult(False, score / 2, f"{len(found) - len(set(found))} lines repeat a path")
    if lacking or surplus:
        return GradeResult(False, score, f"{lacking} paths are missing, {surplus} should not be there")
    if any(row["steps"] != len(row["path"]) - 1 for row in rows):
        return GradeResult(False, score / 2, "the paths are right, but steps is wrong")
    if rows != truth:
        return GradeResult(False, score / 2, "the lines are not in the order that was asked for")
    return GradeResult(True, 1.0, f"all {len(truth)} paths are right")


@graded
def grade(scratch_dir: Path) -> GradeResult:
    """Return the verdict on the artifact below scratch_dir; never raises for what an agent wrote."""
    return compare(read_jsonl(scratch_dir, ARTIFACT, find_type_fault), TRUTH)
