"""Grades output/stock.csv row by row against the reference beside this file."""

import re
from pathlib import Path

from regrade_artifact import ArtifactFault, GradeResult, graded, read_text

ARTIFACT = "output/stock.csv"
KNOWN = read_text(Path(__file__).parent, "reference_output.csv")
HEADER = ["sku", "on_hand", "refused"]
NUMBER = re.compile(r"0|[1-9][0-9]*")


@graded
def grade(scratch_dir: Path) -> GradeResult:
    known = _rows(KNOWN)
    given = _rows(read_text(scratch_dir, ARTIFACT))
    problem = _find_problem(given, known)
    if problem:
        raise ArtifactFault(problem)
    return _compare(given[1:], known[1:])


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
