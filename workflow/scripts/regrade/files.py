"""Reading and writing whole files so that nobody ever sees half of one."""

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file by rename: after a kill it is the old one, the new one, or absent."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:60]}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text by rename; lone surrogates are kept as escapes."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def followed(path: Path) -> Path:
    """Where a path leads with its links followed, whether anything is there or not.

    Raises OSError for links that go in circles, which Python says otherwise in each of its versions.
    """
    place = Path(os.path.realpath(path))
    if any(map(os.path.islink, (place, *place.parents))):
        raise OSError(errno.ELOOP, "links that go in circles", str(path))
    return place


def to_json(value: Any) -> str:
    """One canonical line: sorted keys, no blanks, NaN and infinities refused (ValueError)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def write_json(path: Path, value: Any) -> None:
    """Write JSON for people and programs: sorted keys, indented, by rename."""
    write_text(path, json.dumps(value, sort_keys=True, indent=1, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Parse a JSON file that Regrade wrote."""
    return json.loads(path.read_bytes())


def read_jsonl(path: Path) -> Iterator[Any]:
    """The whole rows of a JSONL file; a line that a killed writer or a full disk cut short is skipped."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n") and line.strip():
                with contextlib.suppress(ValueError):
                    yield json.loads(line)


def write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    """Write rows for people and programs, a line each with its keys in their own order, by rename."""
    encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
    write_text(path, "".join(f"{encode(row)}\n" for row in rows))


def append_jsonl(path: Path, row: Any) -> None:
    """Add one row and flush it, on a line of its own whatever was cut short before; one process writes one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        gap = b"" if stream.read(1) in (b"", b"\n") else b"\n"
        stream.write(gap + to_json(row).encode() + b"\n")


def recorded(path: Path) -> dict[str, Any]:
    """The JSON object in a result, or an empty one if the file is missing or torn."""
    try:
        value = read_json(path)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
