"""Check the form of output/customers.jsonl (not whether the merging is right): python verify.py [FOLDER]"""

from __future__ import annotations

import json
import sys
from pathlib import Path

NULLABLE = ("name", "email", "phone", "vat_id")
KEYS = {"customer_id", "members", "orders", "active", *NULLABLE}


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
        check_types(row, f"row {number}")
    ranks = [(-len(row["members"]), -row["orders"], row["customer_id"]) for row in rows]
    assert ranks == sorted(ranks), "the rows are not sorted by number of members, orders, customer_id"
    members = [member for row in rows for member in row["members"]]
    assert len(members) == len(set(members)), "a record_id stands in two customers"


def check_types(row: dict[str, object], place: str) -> None:
    """Raise AssertionError if a value of the row has the wrong type."""
    members = row["members"]
    assert type(members) is list and members, f"{place}: members must be a list, not empty"
    assert all(type(member) is str for member in members), f"{place}: members must be strings"
    assert members == sorted(set(members)), f"{place}: members must be sorted and stand once"
    assert row["customer_id"] == members[0], f"{place}: customer_id must be the smallest record_id"
    for key in NULLABLE:
        assert row[key] is None or (type(row[key]) is str and row[key]), f"{place}: {key} must be a string or null"
    assert type(row["orders"]) is int and row["orders"] >= 0, f"{place}: orders must be an integer, not negative"
    assert type(row["active"]) is bool, f"{place}: active must be true or false"


def main() -> int:
    """Check the artifact below the folder given, by default the one this file lies in."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    try:
        verify(folder / "output/customers.jsonl")
    except AssertionError as fault:
        print(f"FAIL: {fault}")
        return 1
    print("OK: the form is right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
