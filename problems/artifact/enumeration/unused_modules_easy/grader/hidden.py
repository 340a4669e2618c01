"""Grade output/unused.jsonl against the reference: which modules, how long they are, and the order."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

ARTIFACT = "output/unused.jsonl"
REFERENCE = Path(__file__).resolve().parent / "reference_output.jsonl"
KEYS = {"module", "lines"}


@dataclass(frozen=True)
class GradeResult:
    """What a grader says: passed or not, a score from 0 to 1, and a sentence for people."""

    passed: bool
    score: float
    detail: str


class RefusedError(Exception):
    """The artifact cannot be graded; the message becomes the detail."""


def read_text(path: Path) -> str:
    """Return the artifact's text, or refuse one that is missing, no file, not UTF-8 or empty."""
    if not os.path.exists(path):
        raise RefusedError("output artifact not produced")
    if not os.path.isfile(path):
        raise RefusedError("output artifact failed to parse: it is not a regular file")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RefusedError(f"output artifact failed to parse: {error}") from None
    if not text.strip():
        raise RefusedError("output artifact is empty")
    return text


def parse_rows(text: str) -> list[dict[str, object]]:
    """Return one object per line that is not blank; strict JSON, no key twice."""
    rows: list[dict[str, object]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=make_object, parse_constant=refuse_constant)
        except RecursionError:
            raise RefusedError(f"output artifact failed to parse: line {number}: nested too deeply") from None
        except ValueError as error:
            message = getattr(error, "msg", error)
            raise RefusedError(f"output artifact failed to parse: line {number}: {message}") from None
        fault = find_type_fault(row)
        if fault:
            raise RefusedError(f"line {number}: {fault}")
        rows.append(row)
    return rows


def find_type_fault(row: object) -> str:
    """Return what is wrong with the shape of a row, or the empty text."""
    if type(row) is not dict or set(row) != KEYS:
        return "must be an object with the keys module and lines and no other"
    if type(row["module"]) is not str or type(row["lines"]) is not int:
        return "module must be a string and lines an integer"
    return ""


def make_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs as a dict; a repeated key is an error, not silently the last one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def refuse_constant(name: str) -> object:
    """Refuse NaN and the infinities, which JSON does not have."""
    raise ValueError(f"{name} is not JSON")


def compare(rows: list[dict[str, object]], truth: list[dict[str, object]]) -> GradeResult:
    """Score the share of modules that are right, counting surplus ones; the order must be right as well to pass."""
    known = {row["module"]: row for row in truth}
    found = {row["module"]: row for row in rows}
    right = sum(1 for name, row in known.items() if found.get(name) == row)
    score = right / max(len(known | found), len(rows))
    if len(found) != len(rows):
        return GradeResult(False, score / 2, f"{len(rows) - len(found)} lines repeat a module")
    if set(found) != set(known):
        lacking, surplus = len(set(known) - set(found)), len(set(found) - set(known))
        return GradeResult(False, score, f"{lacking} unused modules are missing, {surplus} listed ones are none")
    if right < len(known):
        return GradeResult(False, score, f"lines wrong: {len(known) - right} modules are off")
    if rows != truth:
        return GradeResult(False, score / 2, "the lines are not in the order that was asked for")
    return GradeResult(True, 1.0, f"all {len(truth)} unused modules are right")


def grade(scratch_dir: Path) -> GradeResult:
    """Return the verdict on the artifact below scratch_dir; never raises for what an agent wrote."""
    truth = parse_rows(REFERENCE.read_text(encoding="utf-8"))
    try:
        return compare(parse_rows(read_text(Path(scratch_dir) / ARTIFACT)), truth)
    except RefusedError as refusal:
        return GradeResult(False, 0.0, str(refusal))
