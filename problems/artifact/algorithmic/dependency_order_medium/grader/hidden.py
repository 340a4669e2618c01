"""Grade output/order.jsonl against the reference: what is installed, in which batches, in which order."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

ARTIFACT = "output/order.jsonl"
REFERENCE = Path(__file__).resolve().parent / "reference_output.jsonl"
KEYS = {"step", "packages", "total_kb"}


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
        return "must be an object with the keys step, packages and total_kb and no other"
    names = row["packages"]
    if type(names) is not list or not names or any(type(name) is not str for name in names):
        return "packages must be a list of strings, not empty"
    if type(row["step"]) is not int or type(row["total_kb"]) is not int:
        return "step and total_kb must be integers"
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


def find_fault(rows: list[dict[str, object]], truth: list[dict[str, object]]) -> str:
    """Return the first kind of fault, from coarse to fine, or the empty text."""
    names = [name for row in rows for name in row["packages"]]
    known = {name for row in truth for name in row["packages"]}
    if len(set(names)) != len(names):
        return "a package is installed more than once"
    if set(names) != known:
        return f"{len(known - set(names))} packages are missing, {len(set(names) - known)} should not be installed"
    if {frozenset(row["packages"]) for row in rows} != {frozenset(row["packages"]) for row in truth}:
        return "the right packages, but not in the right batches"
    if any(row["packages"] != sorted(row["packages"]) for row in rows):
        return "the names inside a batch are not sorted"
    if [row["packages"] for row in rows] != [row["packages"] for row in truth]:
        return "the batches are not in the right order"
    wrong = [
        key
        for key in ("step", "total_kb")
        if any(row[key] != right[key] for row, right in zip(rows, truth, strict=False))
    ]
    return f"{' and '.join(wrong)} wrong" if wrong else ""


def compare(rows: list[dict[str, object]], truth: list[dict[str, object]]) -> GradeResult:
    """Score the share of lines that are right in their place; all must be right to pass."""
    fault = find_fault(rows, truth)
    if fault:
        right = sum(1 for row, known in zip(rows, truth, strict=False) if row == known)
        return GradeResult(False, right / max(len(rows), len(truth)), fault)
    return GradeResult(True, 1.0, f"all {len(truth)} batches are right")


def grade(scratch_dir: Path) -> GradeResult:
    """Return the verdict on the artifact below scratch_dir; never raises for what an agent wrote."""
    truth = parse_rows(REFERENCE.read_text(encoding="utf-8"))
    try:
        return compare(parse_rows(read_text(Path(scratch_dir) / ARTIFACT)), truth)
    except RefusedError as refusal:
        return GradeResult(False, 0.0, str(refusal))
