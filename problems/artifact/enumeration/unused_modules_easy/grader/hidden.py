"""Grade output/unused.jsonl against the reference: which modules, how long they are, and the order."""

from __future__ import annotations

from pathlib import Path

from regrade_artifact import GradeResult, graded, is_integer, is_object, is_text, read_jsonl

ARTIFACT = "output/unused.jsonl"
TRUTH = read_jsonl(Path(__file__).parent, "reference_output.jsonl")
KEYS = {"module", "lines"}


def find_type_fault(row: object) -> str:
    """Return what is wrong with the shape of a row, or the empty text."""
    if not is_object(row, KEYS):
        return "must be an object with the keys module and lines and no other"
    if not (is_text(row["module"]) and is_integer(row["lines"])):
        return "module must be a string and lines an integer"
    return ""


def compare(rows: list[dict[str, object]], truth: list[dict[str, object]]) -> GradeResult:
    """Score the share of modules that are right, counting surplus ones; the order must be right as well to pass."""
    known = {row["module"]: row for row in truth}
    found = {row["module"]: row for row in rows}
    right = sum(1 for name, row in known.items() if found.get(name) == row)
    score = right / max(len(known | found), len(rows))
    if len(found) != len(rows):
        return GradeResult(False, score / 2, f"{len(rows) - len(found)} lines repeat a module")
    if set(found) != set(known):
        lacking, surplus = len(set(known) - set(found)), len(set(found) - set(known))
        return GradeResult(False, score, f"{lacking} unused modules are missing, {surplus} listed ones are none")
    if right < len(known):
        return GradeResult(False, score, f"lines wrong: {len(known) - right} modules are off")
    if rows != truth:
        return GradeResult(False, score / 2, "the lines are not in the order that was asked for")
    return GradeResult(True, 1.0, f"all {len(truth)} unused modules are right")


@graded
def grade(scratch_dir: Path) -> GradeResult:
    """Return the verdict on the artifact below scratch_dir; never raises for what an agent wrote."""
    return compare(read_jsonl(scratch_dir, ARTIFACT, find_type_fault), TRUTH)
