"""What answers have cost below one results folder, and the limit on it.

    results/cache/spending/<writer>.jsonl      {"at", "model", "usd"}, a line for each answer that was paid for

Each process appends to a file of its own and reads all others', so jobs that run side by side share one limit. What a
process has in flight counts as much as the dearest answer of that model so far; until one is known a single request is
in flight. So one process goes over the limit by no more than what its last answers cost beyond the dearest before them,
and each further process beside it by no more than what it has in flight and asks for in a tenth of a second. Calls that
failed count nothing.
"""

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from regrade.errors import BudgetSpent, Fault, RegradeError
from regrade.segments import Segment

_ENOUGH = 1e-9
"""Dollars: less than any answer costs, more than the error of adding them up."""

_LOOK_AGAIN_S = 0.02
_READING_SHARE = 20
_BLIND_S = 0.1


def faults_without_prices(names: Iterable[str], models: Mapping[str, Mapping[str, Any]], source: str) -> list[Fault]:
    """A fault for each of the named models that has no prices, so that no limit on spending can hold for it."""
    told = "is missing, and without it budget.usd cannot be kept, expected dollars per million tokens; 0 for a free one"
    return [Fault(source, f"{name}.prices", told) for name in dict.fromkeys(names) if "prices" not in models[name]]


class Spending:
    """The ledger in one folder; safe for many tasks and threads. Without a limit it only notes."""

    def __init__(self, folder: Path, limit_usd: float | None) -> None:
        self.limit_usd = limit_usd
        self._folder = folder
        self._own = Segment(folder)
        self._ours: set[str] = set()
        self._read: dict[str, int] = {}
        self._read_next = 0.0
        self._spent = 0.0
        self._dearest: dict[str, float] = {}
        self._in_flight: dict[str, int] = {}
        self._unknown: set[str] = set()
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """Dollars spent below this folder so far, by all processes."""
        with self._lock:
            self._read_others()
            return self._spent

    async def admit(self, model: str) -> None:
        """Wait until there is money for one more answer of a model. Raises BudgetSpent when there is none.

        Each admission must be settled.
        """
        while not self._admitted(model):
            await asyncio.sleep(_LOOK_AGAIN_S)

    def _admitted(self, model: str) -> bool:
        """Whether an answer may be asked for now; False when that depends on those in flight."""
        with self._lock:
            if self.limit_usd is not None:
                self._read_others()
                self._require_money(model)
                count = self._in_flight.get(model, 0)
                if count and model not in self._dearest:
                    return False
                expected = sum(n * self._dearest.get(name, 0.0) for name, n in self._in_flight.items())
                if self._in_flight and self._spent + expected >= self.limit_usd - _ENOUGH:
                    return False
            self._in_flight[model] = self._in_flight.get(model, 0) + 1
            return True

    def _require_money(self, model: str) -> None:
        assert self.limit_usd is not None
        if self._spent >= self.limit_usd - _ENOUGH:
            spent = f"{self._spent:.6f} of {self.limit_usd:g} US dollars"
            raise BudgetSpent(f"budget.usd: {spent} are spent; allow more in config/config.yaml and start again")
        if model in self._unknown:
            raise BudgetSpent(
                f"budget.usd: the answers of {model} come without token counts, so that nobody knows what they cost; "
                "let the server send them (stream_usage: include), or take the limit out of config/config.yaml"
            )

    def settle(self, model: str, cost_usd: float | None) -> None:
        """Note what an admitted answer cost: 0 if none came, None if nobody knows. Raises RegradeError (full disk)."""
        with self._lock:
            self._in_flight[model] -= 1
            if not self._in_flight[model]:
                del self._in_flight[model]
            if cost_usd is None:
                self._unknown.add(model)
            elif cost_usd > 0:
                self._count(model, cost_usd)
                self._note(model, cost_usd)

    def _note(self, model: str, cost_usd: float) -> None:
        self._ours.add(self._own.path.name)
        try:
            self._own.append(json.dumps({"at": round(time.time(), 3), "model": model, "usd": cost_usd}).encode())
        except OSError as error:
            raise RegradeError(f"{self._own.path}: what an answer cost could not be noted: {error}") from error

    def _count(self, model: str, cost_usd: float) -> None:
        self._spent += cost_usd
        self._dearest[model] = max(cost_usd, self._dearest.get(model, 0.0))

    def _read_others(self) -> None:
        """Read what other processes have added; less often where there are so many files that it takes long."""
        begin = time.monotonic()
        if begin < self._read_next or not self._folder.is_dir():
            return
        for entry in os.scandir(self._folder):
            if entry.name not in self._ours and entry.stat().st_size > self._read.get(entry.name, 0):
                self._read_more(entry.name)
        now = time.monotonic()
        self._read_next = now + min(_BLIND_S, _READING_SHARE * (now - begin))

    def _read_more(self, name: str) -> None:
        begin = self._read.get(name, 0)
        with (self._folder / name).open("rb") as stream:
            stream.seek(begin)
            content = stream.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._read[name] = begin + len(whole)
        for line in whole.splitlines():
            if (row := _row(line)) is not None:
                self._count(*row)


def _row(line: bytes) -> tuple[str, float] | None:
    """A line's model and dollars; None for one that a full disk spoilt."""
    try:
        row = json.loads(line)
        model, usd = row["model"], float(row["usd"])
    except (ValueError, TypeError, KeyError):
        return None
    return (str(model), usd) if 0 < usd < float("inf") else None
