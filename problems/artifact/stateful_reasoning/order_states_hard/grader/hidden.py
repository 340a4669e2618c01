"""Grades output/orders.jsonl order by order against the reference beside this file."""

from pathlib import Path

from regrade_artifact import ArtifactFault, GradeResult, graded, is_object, is_text, read_jsonl

ARTIFACT = "output/orders.jsonl"
KNOWN = read_jsonl(Path(__file__).parent, "reference_output.jsonl")
KEYS = ["order", "state", "since", "balance", "refunded", "refused"]


@graded
def grade(scratch_dir: Path) -> GradeResult:
    given = read_jsonl(scratch_dir, ARTIFACT)
    _check_rows(given, [row["order"] for row in KNOWN])
    wrong = {
        key: sum(not _same(row[key], right[key]) for row, right in zip(given, KNOWN, strict=True)) for key in KEYS[1:]
    }
    right_rows = sum(all(_same(row[key], right[key]) for key in KEYS) for row, right in zip(given, KNOWN, strict=True))
    if right_rows == len(KNOWN):
        return GradeResult(True, 1.0, f"all {len(KNOWN)} orders right")
    counts = ", ".join(f"{key} of {count}" for key, count in wrong.items() if count)
    return GradeResult(False, right_rows / len(KNOWN), f"wrong among {len(KNOWN)} orders: {counts}")


def _check_rows(given: list, wanted: list[str]) -> None:
    for number, row in enumerate(given, start=1):
        if not is_object(row, KEYS):
            raise ArtifactFault(f"row {number} is no object with exactly the keys {', '.join(KEYS)}")
        if not is_text(row["order"]):
            raise ArtifactFault(f"row {number}: order is no string")
    orders = [row["order"] for row in given]
    if sorted(orders) != wanted:
        missing, extra = len(set(wanted) - set(orders)), len(set(orders) - set(wanted))
        raise ArtifactFault(
            f"not one row for each order: {missing} missing, {extra} unknown, {len(orders)} rows in all"
        )
    if orders != wanted:
        raise ArtifactFault("the rows are not in the order that was asked for")


def _same(given: object, known: object) -> bool:
    """Equal in type, too: neither true nor 1.0 is 1."""
    return type(given) is type(known) and given == known
