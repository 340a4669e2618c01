"""Executions that must not happen twice, noted one by one as they come in."""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from regrade.files import to_json


class Journal:
    """The executions of one job: `rows` by name, the latest of each. A `with` block holds it for this process alone.

    A line that a kill cut short is taken off. What another job (another digest) noted is dropped as a whole: `fresh`
    says that nothing of this job was there.
    """

    def __init__(self, path: Path, digest: str) -> None:
        self._path = path
        self._digest = digest
        self.rows: dict[str, dict[str, Any]] = {}
        self.fresh = True

    def __enter__(self) -> "Journal":
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._stream: IO[bytes] = self._path.open("a+b")
        # A job whose Snakemake was killed may still be asking: it goes first.
        fcntl.flock(self._stream, fcntl.LOCK_EX)
        self._stream.seek(0)
        content = self._stream.read()
        whole = content[: content.rfind(b"\n") + 1]
        self.rows = {row["execution"]: row for row in map(_parse, whole.splitlines()) if self._is_ours(row)}
        self.fresh = not self.rows
        self._stream.truncate(0 if self.fresh else len(whole))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stream.close()

    def _is_ours(self, row: Any) -> bool:
        return isinstance(row, dict) and row.get("digest") == self._digest and "execution" in row

    def add(self, execution: str, row: dict[str, Any]) -> None:
        """Note an execution; on return it is on the disk."""
        noted = {"execution": execution, "digest": self._digest, **row}
        self._stream.write(to_json(noted).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self.rows[execution] = noted


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
