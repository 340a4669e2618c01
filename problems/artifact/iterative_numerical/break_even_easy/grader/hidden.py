"""Grades output/break_even.jsonl plan by plan against the reference beside this file."""

from pathlib import Path

from regrade_artifact import ArtifactFault, GradeResult, graded, is_number, is_object, is_text, read_jsonl

ARTIFACT = "output/break_even.jsonl"
KNOWN = read_jsonl(Path(__file__).parent, "reference_output.jsonl")
KEYS = {"plan", "price"}
TOLERANCE = 0.0005 + 1e-6  # the reference is rounded to six decimals


@graded
def grade(scratch_dir: Path) -> GradeResult:
    given = read_jsonl(scratch_dir, ARTIFACT)
    _check_rows(given, [row["plan"] for row in KNOWN])
    pairs = [(row["price"], right["price"]) for row, right in zip(given, KNOWN, strict=True)]
    wrong_kind = sum((price is None) != (right is None) for price, right in pairs)
    right_rows = sum(_close(price, right) for price, right in pairs)
    if right_rows == len(KNOWN):
        return GradeResult(True, 1.0, f"all {len(KNOWN)} prices right")
    detail = f"{len(KNOWN) - right_rows} of {len(KNOWN)} prices wrong"
    if wrong_kind:
        detail += f", {wrong_kind} of them null or not null against the rule"
    return GradeResult(False, right_rows / len(KNOWN), detail)


def _check_rows(given: list, wanted: list[str]) -> None:
    for number, row in enumerate(given, start=1):
        if not is_object(row, KEYS):
            raise ArtifactFault(f"row {number} is no object with exactly the keys plan, price")
        if not is_text(row["plan"]):
            raise ArtifactFault(f"row {number}: plan is no string")
        if row["price"] is not None and not is_number(row["price"]):
            raise ArtifactFault(f"row {number}: price is no number")
    plans = [row["plan"] for row in given]
    if sorted(plans) != sorted(wanted):
        raise ArtifactFault(f"not one row for each plan ({len(plans)} rows)")
    if plans != wanted:
        raise ArtifactFault("the rows are not in the order of plans.csv")


def _close(price: int | float | None, right: float | None) -> bool:
    if price is None or right is None:
        return price is right
    return right - TOLERANCE <= price <= right + TOLERANCE
