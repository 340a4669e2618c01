"""Check the form of output/unused.jsonl (not whether the modules are right): python verify.py [FOLDER]"""

from __future__ import annotations

import json
import sys
from pathlib import Path

KEYS = {"module", "lines"}


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
        assert type(row["module"]) is str and row["module"], f"row {number}: module must be a string"
        assert type(row["lines"]) is int and row["lines"] >= 0, f"row {number}: lines must be an integer, not negative"
    ranks = [(-row["lines"], row["module"]) for row in rows]
    assert ranks == sorted(ranks), "the rows are not sorted by lines (most first), then module"
    assert len({row["module"] for row in rows}) == len(rows), "a module stands in two rows"


def main() -> int:
    """Check the artifact below the folder given, by default the one this file lies in."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    try:
        verify(folder / "output/unused.jsonl")
    except AssertionError as fault:
        print(f"FAIL: {fault}")
        return 1
    print("OK: the form is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
