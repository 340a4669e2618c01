"""Grades output/break_even.jsonl plan by plan against the reference beside this file."""

import json
from dataclasses import dataclass
from pathlib import Path

ARTIFACT = "output/break_even.jsonl"
KEYS = {"plan", "price"}
TOLERANCE = 0.0005 + 1e-6  # the reference is rounded to six decimals


@dataclass(frozen=True)
class GradeResult:
    passed: bool
    score: float
    detail: str


class RejectedError(Exception):
    """The artifact is wrong as a whole; the argument is the detail."""


def grade(scratch_dir: Path) -> GradeResult:
    known = _parse(Path(__file__).with_name("reference_output.jsonl").read_text(encoding="utf-8"))
    try:
        given = _parse(_read(Path(scratch_dir) / ARTIFACT))
        _check_rows(given, [row["plan"] for row in known])
    except RejectedError as rejected:
        return GradeResult(False, 0.0, str(rejected))
    pairs = [(row["price"], right["price"]) for row, right in zip(given, known, strict=True)]
    wrong_kind = sum((price is None) != (right is None) for price, right in pairs)
    right_rows = sum(_close(price, right) for price, right in pairs)
    if right_rows == len(known):
        return GradeResult(True, 1.0, f"all {len(known)} prices right")
    detail = f"{len(known) - right_rows} of {len(known)} prices wrong"
    if wrong_kind:
        detail += f", {wrong_kind} of them null or not null against the rule"
    return GradeResult(False, right_rows / len(known), detail)


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


def _parse(text: str) -> list:
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            if line.strip():
                rows.append(json.loads(line, object_pairs_hook=_unique, parse_constant=_refuse))
        except (ValueError, RecursionError) as error:
            reason = f"line {number}: {type(error).__name__} {str(error)[:100]}"
            raise RejectedError(f"output artifact failed to parse: {reason}") from error
    return rows


def _unique(pairs: list) -> dict:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check_rows(given: list, wanted: list[str]) -> None:
    for number, row in enumerate(given, start=1):
        if not isinstance(row, dict) or set(row) != KEYS:
            raise RejectedError(f"row {number} is no object with exactly the keys plan, price")
        if not isinstance(row["plan"], str):
            raise RejectedError(f"row {number}: plan is no string")
        if row["price"] is not None and type(row["price"]) not in (int, float):
            raise RejectedError(f"row {number}: price is no number")
    plans = [row["plan"] for row in given]
    if sorted(plans) != sorted(wanted):
        raise RejectedError(f"not one row for each plan ({len(plans)} rows)")
    if plans != wanted:
        raise RejectedError("the rows are not in the order of plans.csv")


def _close(price: int | float | None, right: float | None) -> bool:
    if price is None or right is None:
        return price is right
    return right - TOLERANCE <= price <= right + TOLERANCE
