"""Grade output/p95.jsonl against the reference: every endpoint, its count and p95, and the order."""

from __future__ import annotations

from pathlib import Path

from regrade_artifact import GradeResult, graded, is_integer, is_object, is_text, read_jsonl

ARTIFACT = "output/p95.jsonl"
TRUTH = read_jsonl(Path(__file__).parent, "reference_output.jsonl")
KEYS = {"endpoint", "count", "p95_ms"}


def find_type_fault(row: object) -> str:
    """Return what is wrong with the shape of a row, or the empty text."""
    if not is_object(row, KEYS):
        return "must be an object with the keys endpoint, count and p95_ms and no other"
    if not (is_text(row["endpoint"]) and is_integer(row["count"]) and is_integer(row["p95_ms"])):
        return "endpoint must be a string, count and p95_ms integers"
    return ""


def compare(rows: list[dict[str, object]], truth: list[dict[str, object]]) -> GradeResult:
    """Score the share of endpoints that are right; the order must be right as well to pass."""
    known = {row["endpoint"]: row for row in truth}
    found = {row["endpoint"]: row for row in rows}
    right = sum(1 for name, row in known.items() if found.get(name) == row)
    score = right / max(len(known), len(rows))
    if len(found) != len(rows):
        return GradeResult(False, score / 2, f"{len(rows) - len(found)} lines repeat an endpoint")
    if set(found) != set(known):
        lacking, surplus = len(set(known) - set(found)), len(set(found) - set(known))
        return GradeResult(False, score, f"{lacking} endpoints are missing, {surplus} should not be there")
    if right < len(known):
        fields = [field for field in ("count", "p95_ms") if any(found[n][field] != known[n][field] for n in known)]
        return GradeResult(False, score, f"{' and '.join(fields)} wrong: {len(known) - right} endpoints are off")
    if rows != truth:
        return GradeResult(False, score / 2, "the lines are not in the order that was asked for")
    return GradeResult(True, 1.0, f"all {len(truth)} endpoints are right")


@graded
def grade(scratch_dir: Path) -> GradeResult:
    """Return the verdict on the artifact below scratch_dir; never raises for what an agent wrote."""
    return compare(read_jsonl(scratch_dir, ARTIFACT, find_type_fault), TRUTH)
