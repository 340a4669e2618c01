"""Checks the form of output/fit.json, not whether its numbers are right: python verify.py [scratch]."""

import json
import math
import sys
from pathlib import Path

ARTIFACT = "output/fit.json"
NUMBERS = ["alpha", "beta", "s36"]


def verify(artifact_path: Path) -> None:
    """Raise AssertionError unless the file is a JSON list of well-formed fits, sorted by plan."""
    assert artifact_path.is_file(), f"{artifact_path} is not there"
    try:
        rows = json.loads(artifact_path.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise AssertionError(f"{artifact_path} is no JSON: {error}") from error
    assert isinstance(rows, list) and rows, "the file must hold a list with an object for each plan"
    for number, row in enumerate(rows, start=1):
        keys = ["plan", *NUMBERS]
        assert isinstance(row, dict) and sorted(row) == sorted(keys), f"object {number}: the keys must be {keys}"
        assert isinstance(row["plan"], str), f"object {number}: plan must be a string"
        for key in NUMBERS:
            good = type(row[key]) in (int, float) and 0 < row[key] < math.inf
            assert good, f"object {number}: {key} must be a finite number above 0"
        assert row["s36"] < 1, f"object {number}: s36 is a share"
    plans = [row["plan"] for row in rows]
    assert plans == sorted(set(plans)), "each plan once, sorted"


if __name__ == "__main__":
    scratch = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    try:
        verify(scratch / ARTIFACT)
    except AssertionError as error:
        sys.exit(f"FAIL: {error}")
    print("the form is right")
