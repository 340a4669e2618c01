"""Checks the form of output/orders.jsonl, not whether its values are right: python verify.py [scratch]."""

import json
import re
import sys
from pathlib import Path

ARTIFACT = "output/orders.jsonl"
KEYS = ["order", "state", "since", "balance", "refunded", "refused"]
STATES = ["none", "placed", "paid", "held", "packed", "shipped", "delivered", "cancelled", "returned", "expired"]
INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def verify(artifact_path: Path) -> None:
    """Raise AssertionError unless the file is JSONL of well-formed orders, sorted and each there once."""
    assert artifact_path.is_file(), f"{artifact_path} is not there"
    try:
        rows = [json.loads(line) for line in artifact_path.read_bytes().decode("utf-8").split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise AssertionError(f"{artifact_path} is no JSONL: {error}") from error
    assert rows, "no orders"
    for number, row in enumerate(rows, start=1):
        _verify_row(f"row {number}", row)
    orders = [row["order"] for row in rows]
    assert orders == sorted(set(orders)), "each order once, sorted"


def _verify_row(place: str, row: object) -> None:
    assert isinstance(row, dict) and sorted(row) == sorted(KEYS), f"{place}: the keys must be {', '.join(KEYS)}"
    assert isinstance(row["order"], str), f"{place}: order must be a string"
    assert row["state"] in STATES, f"{place}: state must be one of {', '.join(STATES)}"
    since = row["since"]
    assert since is None or (isinstance(since, str) and INSTANT.fullmatch(since)), f"{place}: since is no UTC instant"
    for key in KEYS[3:]:
        assert type(row[key]) is int and row[key] >= 0, f"{place}: {key} must be a whole number, not negative"


if __name__ == "__main__":
    scratch = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    try:
        verify(scratch / ARTIFACT)
    except AssertionError as error:
        sys.exit(f"FAIL: {error}")
    print("the form is right")
