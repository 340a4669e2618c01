"""Rows of a case's measured.jsonl, one a repetition."""

from pathlib import Path
from typing import Any

from regrade import files
from regrade.errors import RegradeError


def find(path: Path, repetition: int) -> dict[str, Any] | None:
    """The row of a repetition; None without one, or without the file."""
    return next((row for row in files.read_jsonl(path) if row["repetition"] == repetition), None)


def row_of(path: Path, repetition: int) -> dict[str, Any]:
    """The row of a repetition that must be there. Raises RegradeError."""
    row = find(path, repetition)
    if row is None:
        raise RegradeError(f"{path}: has no row of repetition {repetition}")
    return row
