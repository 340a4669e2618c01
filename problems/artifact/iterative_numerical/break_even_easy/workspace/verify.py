"""Checks the form of output/break_even.jsonl, not whether its prices are right: python verify.py [scratch]."""

import json
import math
import sys
from pathlib import Path

ARTIFACT = "output/break_even.jsonl"
PLANS = Path(__file__).with_name("plans.csv")


def verify(artifact_path: Path) -> None:
    """Raise AssertionError unless the file has a well-formed line for each plan, in the order of plans.csv."""
    assert artifact_path.is_file(), f"{artifact_path} is not there"
    try:
        rows = [json.loads(line) for line in artifact_path.read_bytes().decode("utf-8").split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise AssertionError(f"{artifact_path} is no JSONL: {error}") from error
    for number, row in enumerate(rows, start=1):
        assert isinstance(row, dict) and set(row) == {"plan", "price"}, f"row {number}: the keys must be plan, price"
        price = row["price"]
        assert price is None or type(price) in (int, float), f"row {number}: price must be a number or null"
        assert price is None or 0 <= price < math.inf, f"row {number}: price must be finite and not negative"
    plans = [line.split(",")[0] for line in PLANS.read_text(encoding="utf-8").splitlines()[1:]]
    assert [row["plan"] for row in rows] == plans, "the plans must be those of plans.csv, in its order"


if __name__ == "__main__":
    scratch = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    try:
        verify(scratch / ARTIFACT)
    except AssertionError as error:
        sys.exit(f"FAIL: {error}")
    print("the form is right")
