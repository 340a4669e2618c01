"""Check the form of output/p95.jsonl (not whether the figures are right): python verify.py [FOLDER]"""

from __future__ import annotations

import json
import sys
from pathlib import Path

KEYS = {"endpoint", "count", "p95_ms"}


def verify(artifact_path: Path) -> None:
    """Raise AssertionError with the first fault of form; return None when there is none."""
    assert artifact_path.is_file(), f"{artifact_path} is not there"
    try:
        lines = artifact_path.read_bytes().decode("utf-8-sig").split("\n")
        rows = [json.loads(line) for line in lines if line.strip()]
    except (ValueError, RecursionError) as error:
        raise AssertionError(f"{artifact_path} is not JSON lines in UTF-8: {error}") from None
    assert rows, f"{artifact_path} is empty"
    for number, row in enumerate(rows, start=1):
        assert type(row) is dict and set(row) == KEYS, f"row {number}: the keys must be {sorted(KEYS)}"
        assert type(row["endpoint"]) is str and row["endpoint"], f"row {number}: endpoint must be a string"
        for key in ("count", "p95_ms"):
            assert type(row[key]) is int and row[key] >= 0, f"row {number}: {key} must be an integer, not negative"
    ranks = [(-row["p95_ms"], row["endpoint"]) for row in rows]
    assert ranks == sorted(ranks), "the rows are not sorted by p95_ms (highest first), then endpoint"
    assert len({row["endpoint"] for row in rows}) == len(rows), "an endpoint stands in two rows"


def main() -> int:
    """Check the artifact below the folder given, by default the one this file lies in."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    try:
        verify(folder / "output/p95.jsonl")
    except AssertionError as fault:
        print(f"FAIL: {fault}")
        return 1
    print("OK: the form is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
