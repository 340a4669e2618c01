"""Checks the form of output/stock.csv, not whether its numbers are right: python verify.py [scratch]."""

import re
import sys
from pathlib import Path

ARTIFACT = "output/stock.csv"
HEADER = "sku,on_hand,refused"
ROW = re.compile(r"[A-Z][0-9]{3},(0|[1-9][0-9]*),(0|[1-9][0-9]*)")


def verify(artifact_path: Path) -> None:
    """Raise AssertionError unless the file has the header and well-formed rows in the order of their skus."""
    assert artifact_path.is_file(), f"{artifact_path} is not there"
    try:
        lines = artifact_path.read_bytes().decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise AssertionError(f"{artifact_path} is not UTF-8: {error}") from error
    assert lines and lines[0] == HEADER, f"the first line must be {HEADER}"
    assert len(lines) > 1, "no rows below the header"
    for number, line in enumerate(lines[1:], start=2):
        assert ROW.fullmatch(line), f"line {number} is no sku and two whole numbers: {line!r}"
    skus = [line.split(",")[0] for line in lines[1:]]
    assert skus == sorted(set(skus)), "each sku once, sorted"


if __name__ == "__main__":
    scratch = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    try:
        verify(scratch / ARTIFACT)
    except AssertionError as error:
        sys.exit(f"FAIL: {error}")
    print("the form is right")
