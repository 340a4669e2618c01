"""Grades output/stock.csv row by row against the reference beside this file."""

import re
from dataclasses import dataclass
from pathlib import Path

ARTIFACT = "output/stock.csv"
HEADER = ["sku", "on_hand", "refused"]
NUMBER = re.compile(r"0|[1-9][0-9]*")


@dataclass(frozen=True)
class GradeResult:
    passed: bool
    score: float
    detail: str


def grade(scratch_dir: Path) -> GradeResult:
    known = _rows(Path(__file__).with_name("reference_output.csv").read_text(encoding="utf-8"))
    try:
        artifact = Path(scratch_dir) / ARTIFACT
        if not artifact.exists():
            return _fail("output artifact not produced")
        text = artifact.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return _fail(f"output artifact failed to parse: {type(error).__name__}")
    if not text.strip():
        return _fail("output artifact is empty")
    given = _rows(text)
    problem = _find_problem(given, known)
    if problem:
        return _fail(problem)
    return _compare(given[1:], known[1:])


def _fail(detail: str) -> GradeResult:
    return GradeResult(False, 0.0, detail)


def _rows(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")]


def _find_problem(given: list[list[str]], known: list[list[str]]) -> str:
    if given[0] != HEADER:
        return f"the header is not {','.join(HEADER)}"
    for number, row in enumerate(given[1:], start=2):
        if len(row) != len(HEADER):
            return f"line {number} has {len(row)} columns instead of {len(HEADER)}"
        if not all(NUMBER.fullmatch(cell) for cell in row[1:]):
            return f"line {number} holds something else than a sku and two whole numbers"
    skus = [row[0] for row in given[1:]]
    wanted = [row[0] for row in known[1:]]
    if sorted(skus) != wanted:
        return f"the rows are not one for each sku of the log ({len(skus)} rows)"
    return "" if skus == wanted else "the rows are not in the order of their skus"


def _compare(given: list[list[str]], known: list[list[str]]) -> GradeResult:
    on_hand = sum(row[1] != right[1] for row, right in zip(given, known, strict=True))
    refused = sum(row[2] != right[2] for row, right in zip(given, known, strict=True))
    right_rows = sum(row == right for row, right in zip(given, known, strict=True))
    if right_rows == len(known):
        return GradeResult(True, 1.0, f"all {len(known)} skus right")
    detail = f"on_hand wrong for {on_hand} and refused wrong for {refused} of {len(known)} skus"
    return GradeResult(False, right_rows / len(known), detail)
