"""Grades output/orders.jsonl order by order against the reference beside this file."""

import json
from dataclasses import dataclass
from pathlib import Path

ARTIFACT = "output/orders.jsonl"
KEYS = ["order", "state", "since", "balance", "refunded", "refused"]


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
        _check_rows(given, [row["order"] for row in known])
    except RejectedError as rejected:
        return GradeResult(False, 0.0, str(rejected))
    wrong = {
        key: sum(not _same(row[key], right[key]) for row, right in zip(given, known, strict=True)) for key in KEYS[1:]
    }
    right_rows = sum(all(_same(row[key], right[key]) for key in KEYS) for row, right in zip(given, known, strict=True))
    if right_rows == len(known):
        return GradeResult(True, 1.0, f"all {len(known)} orders right")
    counts = ", ".join(f"{key} of {count}" for key, count in wrong.items() if count)
    return GradeResult(False, right_rows / len(known), f"wrong among {len(known)} orders: {counts}")


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
        if not isinstance(row, dict) or set(row) != set(KEYS):
            raise RejectedError(f"row {number} is no object with exactly the keys {', '.join(KEYS)}")
        if not isinstance(row["order"], str):
            raise RejectedError(f"row {number}: order is no string")
    orders = [row["order"] for row in given]
    if sorted(orders) != wanted:
        missing, extra = len(set(wanted) - set(orders)), len(set(orders) - set(wanted))
        raise RejectedError(
            f"not one row for each order: {missing} missing, {extra} unknown, {len(orders)} rows in all"
        )
    if orders != wanted:
        raise RejectedError("the rows are not in the order that was asked for")


def _same(given: object, known: object) -> bool:
    """Equal in type, too: neither true nor 1.0 is 1."""
    return type(given) is type(known) and given == known
