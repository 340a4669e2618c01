"""Check the form of output/order.jsonl (not whether the order is right): python verify.py [FOLDER]"""

from __future__ import annotations

import json
import sys
from pathlib import Path

KEYS = {"step", "packages", "total_kb"}


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
        assert type(row["step"]) is int and row["step"] == number, f"row {number}: step must be {number}"
        assert type(row["total_kb"]) is int and row["total_kb"] > 0, (
            f"row {number}: total_kb must be an integer above 0"
        )
        check_packages(row["packages"], f"row {number}")
    totals = [row["total_kb"] for row in rows]
    assert totals == sorted(totals), "total_kb must never go down"
    names = [name for row in rows for name in row["packages"]]
    assert len(names) == len(set(names)), "a package stands in two batches"


def check_packages(names: object, place: str) -> None:
    """Raise AssertionError unless names is a sorted list of strings, not empty."""
    assert type(names) is list and names, f"{place}: packages must be a list, not empty"
    assert all(type(name) is str for name in names), f"{place}: packages must be strings"
    assert names == sorted(names), f"{place}: packages must be sorted"


def main() -> int:
    """Check the artifact below the folder given, by default the one this file lies in."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    try:
        verify(folder / "output/order.jsonl")
    except AssertionError as fault:
        print(f"FAIL: {fault}")
        return 1
    print("OK: the form is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
