"""What a run directory says about itself beside its rows: its machine, what the user told, its agents' model calls."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regrade import model_calls
from regrade.errors import RegradeError
from regrade.packs import markdown
from regrade.packs.read import Row, part
from regrade.packs.run_metadata import SECTIONS

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_MACHINE = (
    "hostname", "chip", "hardware_model", "hardware_model_name", "hardware_model_identifier", "ram_mb", "os",
)  # fmt: skip
_COUNTS = {
    "calls": "calls", "valid": "valid", "invalid": "invalid", "ok": "ok", "failed": "failed", "error_count": "errors",
}  # fmt: skip
_SUMS = ("prompt_tokens", "output_tokens", "cached_prompt_tokens")
CALLS_HEADING = (
    "case", "repetition", *_COUNTS.values(), *(name.replace("_", " ") for name in model_calls.LABELS.values()),
    "duration_s", *_SUMS,
)  # fmt: skip


def machine(hardware: Row | None) -> str:
    """A machine in one cell."""
    if hardware is None:
        return "hardware.json missing"
    found = [f"{name}={hardware[name]}" for name in _MACHINE if hardware.get(name) not in (None, "")]
    return markdown.cell("; ".join([*found, *(f"gpu={gpu['model']}" for gpu in gpus(hardware))]))


def gpus(hardware: Row) -> list[Row]:
    """The GPUs of a machine that have a name."""
    listed = hardware.get("gpus")
    return [gpu for gpu in (listed if isinstance(listed, list) else []) if isinstance(gpu, dict) and gpu.get("model")]


def metadata(value: Row) -> dict[str, str]:
    """The sections of a user's metadata and the notes, each as one text; a dash for an empty section."""
    found = {name: _pairs(value.get(name)) for name in SECTIONS}
    return {**found, "notes": markdown.cell(value.get("notes"))}


def _pairs(section: Any) -> str:
    items = sorted(section.items()) if isinstance(section, dict) else []
    shown = [(name, value) for name, value in items if value is not None and value not in ("", [], {})]
    return markdown.cell("; ".join(f"{name}={_plain(value)}" for name, value in shown))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def occurrences(rows: list[Row]) -> list[tuple[str, int]]:
    """Each row's case, and the how many-th of its case it is, from 1."""
    seen: dict[str, int] = {}
    found = []
    for row in rows:
        case = str(row.get("case"))
        seen[case] = seen.get(case, 0) + 1
        found.append((case, seen[case]))
    return found


def calls(folder: Path, rows: list[Row]) -> Iterator[tuple[str, int, dict[str, Any] | RegradeError]]:
    """The model calls of each trial that has a file of them, summarised; the error for a file that cannot be read."""
    for row, (case, number) in zip(rows, occurrences(rows), strict=True):
        repetition = row["repetition"] if isinstance(row.get("repetition"), int) else number
        path = folder / "task" / case / f"rep-{repetition:03d}.model-calls.jsonl"
        # A row that somebody else wrote must not lead out of the directory.
        if _ID.fullmatch(case) and part(row, "workspace", "path") is not None:
            try:
                found = model_calls.summarise_file(path)
            except RegradeError as error:
                yield case, repetition, error
            else:
                if found is not None:
                    yield case, repetition, found


def calls_row(case: str, repetition: int, found: dict[str, Any]) -> list[str]:
    """One line of the table of model calls; nothing of it but what is known to be safe."""
    return [
        markdown.cell(case),
        str(repetition),
        *(str(found[name]) for name in _COUNTS),
        *(markdown.cell(", ".join(found[name])) for name in model_calls.LABELS.values()),
        markdown.number(found["duration_s"], 6),
        *(markdown.count(found[name]) for name in _SUMS),
    ]
