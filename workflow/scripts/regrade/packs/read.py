"""Reading run directories, whoever made them: rows may lack any field that is newer than their runner."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regrade.errors import RegradeError

Row = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One run directory as it was named, with a label that no other input has."""

    path: Path
    label: str
    rows: list[Row]


def runs(paths: list[Path]) -> list[Run]:
    """The runs in some directories. Raises RegradeError for the first that holds none."""
    return [Run(path, label, _rows(path)) for path, label in zip(paths, labels(paths), strict=True)]


def labels(paths: list[Path]) -> list[str]:
    """The last part of each path; where several have the same, with the part before it; then with a number."""
    places = [path.absolute() if path.name else path.resolve() for path in paths]
    names = [place.name or str(place) for place in places]
    longer = [
        f"{place.parent.name}/{name}" if names.count(name) > 1 and place.parent.name else name
        for place, name in zip(places, names, strict=True)
    ]
    seen: dict[str, int] = {}
    found = []
    for label in longer:
        seen[label] = seen.get(label, 0) + 1
        found.append(f"{label}#{seen[label]}" if longer.count(label) > 1 else label)
    return found


def _rows(folder: Path) -> list[Row]:
    if not folder.is_dir():
        raise RegradeError(f"{folder}: is no directory, expected a run directory with a run.jsonl")
    path = folder / "run.jsonl"
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise RegradeError(f"{path}: cannot be read: {error.strerror}; expected a run directory's rows") from error
    rows = [_row(line, f"{path}:{number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if not rows:
        raise RegradeError(f"{path}: holds no rows, expected at least one")
    return rows


def _row(line: bytes, place: str) -> Row:
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RegradeError(f"{place}: is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RegradeError(f"{place}: is a {type(value).__name__}, expected a JSON object")
    return value


def sibling(folder: Path, name: str) -> Row | None:
    """The object in hardware.json or run-metadata.json of a run; None without the file. Raises RegradeError."""
    path = folder / name
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise RegradeError(f"{path}: cannot be read: {error}") from error
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RegradeError(f"{path}: is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RegradeError(f"{path}: is a {type(value).__name__}, expected a JSON object")
    return value


def part(row: Row, group: str, name: str) -> Any:
    """A field of a group such as `timing`; None wherever a row lacks it."""
    value = row.get(group)
    return value.get(name) if isinstance(value, dict) else None
