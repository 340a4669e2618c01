"""Grade output/p95.jsonl against the reference: every endpoint, its count and p95, and the order."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

ARTIFACT = "output/p95.jsonl"
REFERENCE = Path(__file__).resolve().parent / "reference_output.jsonl"
KEYS = {"endpoint", "count", "p95_ms"}


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
        if type(row) is not dict or set(row) != KEYS:
            raise RefusedError(f"line {number} must be an object with the keys endpoint, count and p95_ms and no other")
        if type(row["endpoint"]) is not str or type(row["count"]) is not int or type(row["p95_ms"]) is not int:
            raise RefusedError(f"line {number}: endpoint must be a string, count and p95_ms integers")
        rows.append(row)
    return rows


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
    """Score the share of endpoints that are right; the order must be right as well to pass."""
    known = {row["endpoint"]: row for row in truth}
    found = {row["endpoint"]: row for row in rows}
    right = sum(1 for name, row in known.items() if found.get(name) == row)
    score = right / max(len(known), len(rows))
    if len(found) != len(rows):
        return GradeResult(False, score / 2, f"{len(rows) - len(found)} lines repeat an endpoint")
    if set(found) != set(known):
        lacking, surplus = len(set(known) - set(found)), len(set(found) - set(known))
        return GradeResult(False, score, f"{lacking} endpoints are missing, {surplus} should not be there")
    if right < len(known):
        fields = [field for field in ("count", "p95_ms") if any(found[n][field] != known[n][field] for n in known)]
        return GradeResult(False, score, f"{' and '.join(fields)} wrong: {len(known) - right} endpoints are off")
    if rows != truth:
        return GradeResult(False, score / 2, "the lines are not in the order that was asked for")
    return GradeResult(True, 1.0, f"all {len(truth)} endpoints are right")


def grade(scratch_dir: Path) -> GradeResult:
    """Return the verdict on the artifact below scratch_dir; never raises for what an agent wrote."""
    truth = parse_rows(REFERENCE.read_text(encoding="utf-8"))
    try:
        return compare(parse_rows(read_text(Path(scratch_dir) / ARTIFACT)), truth)
    except RefusedError as refusal:
        return GradeResult(False, 0.0, str(refusal))
