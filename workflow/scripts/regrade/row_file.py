"""A file of rows that one job makes: noted as they come in, in order when all are there.

The journal, an undeclared file, has what a killed job had, and what the last one made: it is then the same file as the
output (a link), at no cost. A job that runs again takes the rows that still fit from the journal, so that only the
others cost anything.
"""

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

Key = tuple[str, int]
"""A row's task and repetition."""

Row = dict[str, Any]


def read(path: Path) -> dict[Key, Row]:
    """The rows of a finished file."""
    with path.open("rb") as stream:
        rows = [json.loads(line) for line in stream]
    return {key_of(row): row for row in rows}


def key_of(row: Row) -> Key:
    """What a row is about."""
    return row["task"], row["repetition"]


class RowFile:
    """The rows of one job, by task and repetition. A `with` block holds the journal for this process alone."""

    def __init__(self, output: Path, journal: Path) -> None:
        self._output = output
        self.journal = journal
        self._lines: dict[Key, bytes] = {}
        self.before: dict[Key, Row] = {}
        """What the journal held at the start, the latest row of each key."""

    def __enter__(self) -> "RowFile":
        for path in (self._output, self.journal):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self._open()
        for line in self._stream:
            row = _parse(line)
            if row is not None:
                key = key_of(row)
                self.before[key], self._lines[key] = row, line
        return self

    def _open(self) -> IO[bytes]:
        """The journal, on a line of its own, locked: a job whose Snakemake was killed may still be at work."""
        while True:
            stream = self.journal.open("a+b")
            fcntl.flock(stream, fcntl.LOCK_EX)
            if _is_at(stream, self.journal):
                if os.fstat(stream.fileno()).st_nlink == 1:
                    break
                # The output still is the same file, and is not to change under whoever reads it.
                stream.seek(0)
                _write(self.journal, stream)
            stream.close()
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        if stream.read(1) not in (b"", b"\n"):
            stream.write(b"\n")
            stream.flush()
        stream.seek(0)
        return stream

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stream.close()

    def keep(self, fits: Callable[[Row], bool]) -> set[Key]:
        """Take over the rows of the journal that fit; their keys."""
        kept = {key for key, row in self.before.items() if fits(row)}
        self._lines = {key: line for key, line in self._lines.items() if key in kept}
        return kept

    def add(self, row: Row) -> None:
        """Note a row; on return it survives the end of this process."""
        line = json.dumps(row, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        self._stream.write(line)
        self._stream.flush()
        self._lines[key_of(row)] = line

    def rows(self) -> Iterator[Row]:
        """What was taken over and what was added."""
        yield from map(json.loads, self._lines.values())

    def finish(self, order: Iterable[Key], journal: Path | None = None) -> None:
        """Write the output: the rows of these keys in this order. `journal` is where later jobs look, if elsewhere."""
        kept = journal or self.journal
        temporary = self._output.with_name(f".{self._output.name}.{uuid.uuid4().hex}")
        with temporary.open("wb") as stream:
            stream.writelines(self._lines[key] for key in order)
        link = kept.with_name(f".{kept.name}.{uuid.uuid4().hex}")
        try:
            os.link(temporary, link)
            link.replace(kept)
        except OSError:
            # There are no hard links here, or the two lie on different disks.
            with temporary.open("rb") as stream:
                _write(kept, stream)
        temporary.replace(self._output)
        if kept != self.journal:
            self.journal.unlink()


def _write(path: Path, content: IO[bytes]) -> None:
    """Put a copy in a file's place."""
    copy = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    with copy.open("wb") as stream:
        shutil.copyfileobj(content, stream)
    copy.replace(path)


def _is_at(stream: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _parse(line: bytes) -> Row | None:
    """A whole row; None for what a kill cut short."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    fits = isinstance(row, dict) and isinstance(row.get("task"), str) and isinstance(row.get("repetition"), int)
    return row if fits else None
