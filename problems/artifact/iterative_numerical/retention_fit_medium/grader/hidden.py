"""Grades output/fit.json plan by plan against the reference beside this file."""

from pathlib import Path

from regrade_artifact import ArtifactFault, GradeResult, graded, is_number, is_object, is_text, read_json

ARTIFACT = "output/fit.json"
KNOWN = read_json(Path(__file__).parent, "reference_output.json")
KEYS = {"plan", "alpha", "beta", "s36"}
ROUNDING = 1e-6  # the reference has six decimals


@graded
def grade(scratch_dir: Path) -> GradeResult:
    given = read_json(scratch_dir, ARTIFACT)
    _check_rows(given, [row["plan"] for row in KNOWN])
    wrong = {row["plan"]: _find_wrong(row, right) for row, right in zip(given, KNOWN, strict=True)}
    right_plans = sum(not names for names in wrong.values())
    if right_plans == len(KNOWN):
        return GradeResult(True, 1.0, f"all {len(KNOWN)} plans right")
    parts = ", ".join(f"{plan} ({' '.join(names)})" for plan, names in wrong.items() if names)
    return GradeResult(False, right_plans / len(KNOWN), f"too far off: {parts}")


def _check_rows(given: object, wanted: list[str]) -> None:
    if not isinstance(given, list):
        raise ArtifactFault("the artifact is no JSON list")
    for number, row in enumerate(given, start=1):
        if not is_object(row, KEYS):
            raise ArtifactFault(f"element {number} is no object with exactly the keys plan, alpha, beta, s36")
        if not is_text(row["plan"]):
            raise ArtifactFault(f"element {number}: plan is no string")
        for key in sorted(KEYS - {"plan"}):
            if not is_number(row[key]):
                raise ArtifactFault(f"element {number}: {key} is no number")
    plans = [row["plan"] for row in given]
    if sorted(plans) != wanted:
        raise ArtifactFault(f"not one object for each plan ({len(plans)} objects)")
    if plans != wanted:
        raise ArtifactFault("the objects are not in the order of their plans")


def _find_wrong(row: dict, right: dict) -> list[str]:
    allowed = {"alpha": 0.005 * right["alpha"], "beta": 0.005 * right["beta"], "s36": 0.0005}
    return [key for key, width in allowed.items() if not _close(row[key], right[key], width + ROUNDING)]


def _close(value: int | float, right: float, width: float) -> bool:
    """By two comparisons: they hold for no NaN, and an integer of any size needs no conversion."""
    return right - width <= value <= right + width
