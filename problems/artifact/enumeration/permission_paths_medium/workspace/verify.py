"""Check the form of output/paths.jsonl (not whether the paths are right): python verify.py [FOLDER]"""

from __future__ import annotations

import json
import sys
from pathlib import Path

KEYS = {"path", "steps"}


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
        path = row["path"]
        assert type(path) is list and len(path) >= 2, f"row {number}: path must be a list of a user, ..., a right"
        assert all(type(node) is str for node in path), f"row {number}: path must hold strings"
        assert len(set(path)) == len(path), f"row {number}: a node stands twice in the path"
        assert path[0].startswith("u-") and ":" in path[-1], f"row {number}: path must go from a user to a right"
        assert type(row["steps"]) is int and 1 <= row["steps"] <= 6, f"row {number}: steps must be an integer, 1 to 6"
    ranks = [(row["steps"], row["path"]) for row in rows]
    assert ranks == sorted(ranks), "the rows are not sorted by steps, then path"
    assert len({tuple(row["path"]) for row in rows}) == len(rows), "a path stands in two rows"


def main() -> int:
    """Check the artifact below the folder given, by default the one this file lies in."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    try:
        verify(folder / "output/paths.jsonl")
    except AssertionError as fault:
        print(f"FAIL: {fault}")
        return 1
    print("OK: the form is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
