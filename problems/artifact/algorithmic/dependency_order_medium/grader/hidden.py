"""Grade output/order.jsonl against the reference: what is installed, in which batches, in which order."""

from __future__ import annotations

from pathlib import Path

from regrade_artifact import GradeResult, graded, is_integer, is_object, is_texts, read_jsonl

ARTIFACT = "output/order.jsonl"
TRUTH = read_jsonl(Path(__file__).parent, "reference_output.jsonl")
KEYS = {"step", "packages", "total_kb"}


def find_type_fault(row: object) -> str:
    """Return what is wrong with the shape of a row, or the empty text."""
    if not is_object(row, KEYS):
        return "must be an object with the keys step, packages and total_kb and no other"
    if not is_texts(row["packages"]):
        return "packages must be a list of strings, not empty"
    if not (is_integer(row["step"]) and is_integer(row["total_kb"])):
        return "step and total_kb must be integers"
    return ""


def find_fault(rows: list[dict[str, object]], truth: list[dict[str, object]]) -> str:
    """Return the first kind of fault, from coarse to fine, or the empty text."""
    names = [name for row in rows for name in row["packages"]]
    known = {name for row in truth for name in row["packages"]}
    if len(set(names)) != len(names):
        return "a package is installed more than once"
    if set(names) != known:
        return f"{len(known - set(names))} packages are missing, {len(set(names) - known)} should not be installed"
    if {frozenset(row["packages"]) for row in rows} != {frozenset(row["packages"]) for row in truth}:
        return "the right packages, but not in the right batches"
    if any(row["packages"] != sorted(row["packages"]) for row in rows):
        return "the names inside a batch are not sorted"
    if [row["packages"] for row in rows] != [row["packages"] for row in truth]:
        return "the batches are not in the right order"
    wrong = [
        key
        for key in ("step", "total_kb")
        if any(row[key] != right[key] for row, right in zip(rows, truth, strict=False))
    ]
    return f"{' and '.join(wrong)} wrong" if wrong else ""


def compare(rows: list[dict[str, object]], truth: list[dict[str, object]]) -> GradeResult:
    """Score the share of lines that are right in their place; all must be right to pass."""
    fault = find_fault(rows, truth)
    if fault:
        right = sum(1 for row, known in zip(rows, truth, strict=False) if row == known)
        return GradeResult(False, right / max(len(rows), len(truth)), fault)
    return GradeResult(True, 1.0, f"all {len(truth)} batches are right")


@graded
def grade(scratch_dir: Path) -> GradeResult:
    """Return the verdict on the artifact below scratch_dir; never raises for what an agent wrote."""
    return compare(read_jsonl(scratch_dir, ARTIFACT, find_type_fault), TRUTH)
