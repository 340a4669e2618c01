"""Answers that other jobs have noted: the same question to the same model is paid once.

results/cache/answers/<who is asked>/<whose shard>.jsonl          journals of the stage `ask` (row_file.py)
results/cache/answers/<who is asked>/<whose shard>.spare.jsonl    answers that no row of the shard is made from now
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

Key = tuple[str, int]
"""The digest of a request, and the repetition."""


class EarlierAnswers:
    """Finds answers in the journals beside one's own; read when first asked for.

    `mode` is the configuration's `cache`: on and only look up, off and refresh do not.
    """

    def __init__(self, own: Path, mode: str) -> None:
        self.mode = mode
        self._own = own
        self._found: dict[Key, dict[str, Any] | tuple[Path, int]] | None = None
        self._asking: dict[Key, asyncio.Lock] = {}

    def find(self, request: str, repetition: int) -> dict[str, Any] | None:
        """The row of an answer to that request, or None."""
        if self.mode not in ("on", "only"):
            return None
        if self._found is None:
            self._found = self._index()
        found = self._found.get((request, repetition))
        return _read(*found, (request, repetition)) if isinstance(found, tuple) else found

    def note(self, row: dict[str, Any]) -> None:
        """Remember an answer of one's own for an equal question."""
        if self._found is not None and row["status"] == "ok":
            self._found[row["digests"]["request"], row["repetition"]] = row

    @contextlib.asynccontextmanager
    async def alone(self, request: str, repetition: int) -> AsyncIterator[None]:
        """No two equal questions are on their way at once, where answers are looked up at all."""
        if self.mode not in ("on", "only"):
            yield
            return
        async with self._asking.setdefault((request, repetition), asyncio.Lock()):
            yield

    def _index(self) -> dict[Key, dict[str, Any] | tuple[Path, int]]:
        found: dict[Key, dict[str, Any] | tuple[Path, int]] = {}
        for path in sorted(self._own.parent.glob("*.jsonl")):
            offset = 0
            with path.open("rb") as stream:
                for line in stream:
                    if key := _key(line):
                        found[key] = (path, offset)
                    offset += len(line)
        return found


def spare(journal: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Keep the answers of a journal that are not among the rows which take its place, so that they stay paid for."""
    target = journal.with_suffix(".spare.jsonl")
    kept = {(row["digests"]["request"], row["repetition"]) for row in rows if row["status"] == "ok"}
    kept |= {key for line in _lines(target) if (key := _key(line))}
    spared = [line for line in _lines(journal) if (key := _key(line)) and key not in kept]
    if spared:
        with target.open("ab") as stream:
            stream.writelines(spared)


def _lines(path: Path) -> Iterator[bytes]:
    with contextlib.suppress(FileNotFoundError), path.open("rb") as stream:
        yield from stream


def _read(path: Path, offset: int, wanted: Key) -> dict[str, Any] | None:
    """A row that was seen there; None if another job has written the file anew since."""
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            line = stream.readline()
    except OSError:
        return None
    return json.loads(line) if _key(line) == wanted else None


def _key(line: bytes) -> Key | None:
    try:
        row = json.loads(line)
        if row["status"] == "ok" and row["digests"]["request"]:
            return row["digests"]["request"], row["repetition"]
    except (ValueError, TypeError, KeyError):
        pass
    return None
