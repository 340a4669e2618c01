"""Reading records, wherever they lie: a file, a run directory, or a set's folder."""

import json
from pathlib import Path
from typing import Any

from regrade.errors import UsageError

Row = dict[str, Any]
NAMES = ("records.jsonl", "run.jsonl")


def load(place: Path) -> list[Row]:
    """The records in a file or folder; of a pack's rows the record that each holds. Raises UsageError for none."""
    path = _file_of(place)
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}; expected records, a JSON object a line") from error
    rows = [_record(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise UsageError(f"{path}: holds no record, expected at least one")
    return rows


def _file_of(place: Path) -> Path:
    if not place.is_dir():
        return place
    for name in NAMES:
        if (place / name).is_file():
            return place / name
    raise UsageError(f"{place}: holds neither {' nor '.join(NAMES)}, expected records")


def _record(line: str, place: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place}: is not JSON: {error}") from error
    row = row.get("regrade", row) if isinstance(row, dict) else row
    if not isinstance(row, dict) or not ("score" in row and "task" in row):
        raise UsageError(f"{place}: has no task and score, expected a record (docs/data_files.md)")
    status = "error" if row["score"] is None else "passed" if row.get("passed") else "failed"
    return {"arm": "", "status": status, **row}
