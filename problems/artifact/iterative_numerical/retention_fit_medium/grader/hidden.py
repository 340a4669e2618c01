"""Grades output/fit.json plan by plan against the reference beside this file."""

import json
from dataclasses import dataclass
from pathlib import Path

ARTIFACT = "output/fit.json"
KEYS = {"plan", "alpha", "beta", "s36"}
ROUNDING = 1e-6  # the reference has six decimals


@dataclass(frozen=True)
class GradeResult:
    passed: bool
    score: float
    detail: str


class RejectedError(Exception):
    """The artifact is wrong as a whole; the argument is the detail."""


def grade(scratch_dir: Path) -> GradeResult:
    known = _parse(Path(__file__).with_name("reference_output.json").read_text(encoding="utf-8"))
    try:
        given = _parse(_read(Path(scratch_dir) / ARTIFACT))
        _check_rows(given, [row["plan"] for row in known])
    except RejectedError as rejected:
        return GradeResult(False, 0.0, str(rejected))
    wrong = {row["plan"]: _find_wrong(row, right) for row, right in zip(given, known, strict=True)}
    right_plans = sum(not names for names in wrong.values())
    if right_plans == len(known):
        return GradeResult(True, 1.0, f"all {len(known)} plans right")
    parts = ", ".join(f"{plan} ({' '.join(names)})" for plan, names in wrong.items() if names)
    return GradeResult(False, right_plans / len(known), f"too far off: {parts}")


def _read(artifact: Path) -> str:
    try:
        if not artifact.exists():
            raise RejectedError("output artifact not produced")
        text = artifact.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RejectedError(f"output artifact failed to parse: {type(error).__name__}") from error
    if not text.strip():
        raise RejectedError("output artifact is empty")
    return text


def _parse(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise RejectedError(f"output artifact failed to parse: {type(error).__name__} {str(error)[:100]}") from error


def _unique(pairs: list) -> dict:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_rows(given: object, wanted: list[str]) -> None:
    if not isinstance(given, list):
        raise RejectedError("the artifact is no JSON list")
    for number, row in enumerate(given, start=1):
        if not isinstance(row, dict) or set(row) != KEYS:
            raise RejectedError(f"element {number} is no object with exactly the keys plan, alpha, beta, s36")
        if not isinstance(row["plan"], str):
            raise RejectedError(f"element {number}: plan is no string")
        for key in sorted(KEYS - {"plan"}):
            if type(row[key]) not in (int, float):
                raise RejectedError(f"element {number}: {key} is no number")
    plans = [row["plan"] for row in given]
    if sorted(plans) != wanted:
        raise RejectedError(f"not one object for each plan ({len(plans)} objects)")
    if plans != wanted:
        raise RejectedError("the objects are not in the order of their plans")


def _find_wrong(row: dict, right: dict) -> list[str]:
    allowed = {"alpha": 0.005 * right["alpha"], "beta": 0.005 * right["beta"], "s36": 0.0005}
    return [key for key, width in allowed.items() if not _close(row[key], right[key], width + ROUNDING)]


def _close(value: int | float, right: float, width: float) -> bool:
    """By two comparisons: they hold for no NaN, and an integer of any size needs no conversion."""
    return right - width <= value <= right + width
