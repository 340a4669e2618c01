"""Grade output/customers.jsonl against the reference: the groups, every surviving value, and the order."""

from __future__ import annotations

from pathlib import Path

from regrade_artifact import GradeResult, graded, is_integer, is_object, is_text, is_texts, read_jsonl

ARTIFACT = "output/customers.jsonl"
TRUTH = read_jsonl(Path(__file__).parent, "reference_output.jsonl")
NULLABLE = ("name", "email", "phone", "vat_id")
KEYS = {"customer_id", "members", "orders", "active", *NULLABLE}


def find_type_fault(row: object) -> str:
    """Return what is wrong with the shape of a row, or the empty text."""
    if not is_object(row, KEYS):
        return f"must be an object with the keys {', '.join(sorted(KEYS))} and no other"
    if not is_texts(row["members"]):
        return "members must be a list of strings, not empty"
    if not is_text(row["customer_id"]) or any(row[key] is not None and not is_text(row[key]) for key in NULLABLE):
        return f"customer_id must be a string; {', '.join(NULLABLE)} a string or null"
    if not is_integer(row["orders"]) or type(row["active"]) is not bool:
        return "orders must be an integer and active true or false"
    return ""


def compare(rows: list[dict[str, object]], truth: list[dict[str, object]]) -> GradeResult:
    """Score the share of customers that are right in every key; the order must be right as well to pass."""
    known = {row["customer_id"]: row for row in truth}
    found = {row["customer_id"]: row for row in rows}
    right = sum(1 for name, row in known.items() if found.get(name) == row)
    score = right / max(len(known), len(rows))
    if len(found) != len(rows):
        return GradeResult(False, score / 2, f"{len(rows) - len(found)} lines repeat a customer_id")
    grouped = sum(1 for name, row in known.items() if name in found and found[name]["members"] == row["members"])
    if grouped < len(known) or len(found) > len(known):
        detail = f"wrong groups: {len(known) - grouped} customers do not have the right members, or there are too many"
        return GradeResult(False, score, detail)
    if right < len(known):
        wrong = {key: sum(1 for name in known if found[name][key] != known[name][key]) for key in sorted(KEYS)}
        counts = ", ".join(f"{key} in {count}" for key, count in wrong.items() if count)
        return GradeResult(False, score, f"the groups are right, values are wrong: {counts}")
    if rows != truth:
        return GradeResult(False, score / 2, "the lines are not in the order that was asked for")
    return GradeResult(True, 1.0, f"all {len(truth)} customers are right")


@graded
def grade(scratch_dir: Path) -> GradeResult:
    """Return the verdict on the artifact below scratch_dir; never raises for what an agent wrote."""
    return compare(read_jsonl(scratch_dir, ARTIFACT, find_type_fault), TRUTH)
