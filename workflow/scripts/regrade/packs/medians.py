"""Medians of several runs' rows, case by case, and whether their prefill speeds can be compared."""

import math
from dataclasses import dataclass
from typing import Any

from regrade.packs.read import Row, Run, part
from regrade.statistics import median

MEASURES = (
    ("timing", "wall_s"), ("timing", "ttft_s"), ("timing", "prefill_tps"), ("timing", "decode_tps"),
    ("timing", "total_tps"), ("tokens", "output"), ("tokens", "prompt"), ("tokens", "cached_prompt"),
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One case in one run: the medians by name (None without a sample), and how many rows have a cached count."""

    label: str
    case: str
    rows: int
    ok: int
    medians: dict[str, float | None]
    prompts: int
    cached: int


@dataclass(frozen=True)
class Case:
    """A case in all runs. `parity` says whether prefill speeds mean the same in each."""

    name: str
    cells: list[Cell]
    parity: str


def sample(value: Any) -> float | None:
    """A finite number; None for anything else, booleans among it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def cases(runs: list[Run]) -> list[Case]:
    """Every case in the order in which it first appears, with a cell for each run in the runs' order."""
    by_case = [_by_case(run.rows) for run in runs]
    names = dict.fromkeys(name for groups in by_case for name in groups)
    found = []
    for name in names:
        cells = [_cell(run.label, name, groups.get(name, [])) for run, groups in zip(runs, by_case, strict=True)]
        found.append(Case(name, cells, parity(cells)))
    return found


def _by_case(rows: list[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row.get("case")), []).append(row)
    return groups


def _cell(label: str, case: str, rows: list[Row]) -> Cell:
    samples = {
        name: [value for row in rows if (value := sample(part(row, group, name))) is not None]
        for group, name in MEASURES
    }
    return Cell(
        label=label,
        case=case,
        rows=len(rows),
        ok=sum(row.get("ok") is True for row in rows),
        medians={name: median(values) for name, values in samples.items()},
        prompts=len(samples["prompt"]),
        cached=len(samples["cached_prompt"]),
    )


def parity(cells: list[Cell]) -> str:
    """The first thing that keeps prefill speeds from being compared, or `comparable`."""
    if any(cell.rows == 0 for cell in cells):
        return "missing-case"
    if any(cell.prompts < cell.rows for cell in cells):
        return "prompt-missing"
    if differs(cells, "prompt"):
        return "prompt-diff"
    if any(cell.cached < cell.rows for cell in cells):
        return "cache-missing"
    return "cache-diff" if differs(cells, "cached_prompt") else "comparable"


def differs(cells: list[Cell], name: str) -> bool:
    """Whether a median is not the same in all runs."""
    return len({cell.medians[name] for cell in cells}) > 1
