"""What an external agent says about its own model calls: a JSONL file of which only safe fields count.

Whatever is not exactly as the format says is counted as invalid and never shown.
"""

import json
import math
import unicodedata
from pathlib import Path
from typing import Any, NoReturn

from regrade.errors import RegradeError

LABELS = {
    "model": "models",
    "adapter": "adapters",
    "endpoint": "endpoints",
    "response_format": "response_formats",
    "token_budget_field": "token_budget_fields",
    "finish_reason": "finish_reasons",
}
"""Text fields, and under which name a summary lists their different values."""

COUNTS = ("prompt_tokens", "output_tokens", "cached_prompt_tokens")
TEXTS = ("started_at", "ended_at", "error", *(name for name in LABELS if name != "model"))
"""Text fields that may be absent, null or empty."""

ALLOWED = frozenset({"schema_version", "sequence", "model", "ok", "duration_s", *TEXTS, *COUNTS})

LONGEST_TEXT = 200
LARGEST_NUMBER = 2**53
"""Beyond it JSON readers disagree about a number."""


def summarise_file(path: Path) -> dict[str, Any] | None:
    """The summary of a trial's model-call file, None if there is none. Raises RegradeError if it is not UTF-8."""
    if not path.is_file():
        return None
    try:
        return summarise(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RegradeError(f"{path}: is not UTF-8 at byte {error.start}, expected JSON lines in UTF-8") from error


def summarise(text: str) -> dict[str, Any]:
    """Counts, labels in the order in which they were first seen, and sums (null when never given) of some lines."""
    lines = [line for line in text.split("\n") if line.strip()]
    rows = [row for line in lines if (row := parse(line)) is not None]
    succeeded = sum(row["ok"] for row in rows)
    return {
        "calls": len(lines),
        "valid": len(rows),
        "invalid": len(lines) - len(rows),
        "ok": succeeded,
        "failed": len(rows) - succeeded,
        "error_count": sum(bool(row.get("error")) for row in rows),
        **{plural: _different(rows, name) for name, plural in LABELS.items()},
        **{name: _sum(rows, name) for name in ("duration_s", *COUNTS)},
    }


def parse(line: str) -> dict[str, Any] | None:
    """One line as a row, None unless every field is allowed and safe."""
    try:
        row = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) and _is_valid(row) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _is_valid(row: dict[str, Any]) -> bool:
    return (
        ALLOWED.issuperset(row)
        and _is_count(row.get("schema_version")) and row["schema_version"] == 1
        and _is_count(row.get("sequence")) and row["sequence"] > 0
        and isinstance(row.get("model"), str) and row["model"] != "" and _is_safe(row["model"])
        and isinstance(row.get("ok"), bool)
        and all(row.get(name) is None or _is_safe(row[name]) for name in TEXTS)
        and not any(sign in (row.get("endpoint") or "") for sign in ("://", "?", "@"))
        and ("duration_s" not in row or _is_duration(row["duration_s"]))
        and all(name not in row or _is_count(row[name]) for name in COUNTS)
    )  # fmt: skip


def _is_safe(value: Any) -> bool:
    """A short text without control signs, unassigned code points, or separators other than the plain blank."""
    return (
        isinstance(value, str)
        and len(value) <= LONGEST_TEXT
        and all(sign == " " or unicodedata.category(sign)[0] not in "CZ" for sign in value)
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_NUMBER


def _is_duration(value: Any) -> bool:
    return _is_count(value) or (isinstance(value, float) and math.isfinite(value) and 0 <= value <= LARGEST_NUMBER)


def _different(rows: list[dict[str, Any]], name: str) -> list[str]:
    return list(dict.fromkeys(row[name] for row in rows if row.get(name)))


def _sum(rows: list[dict[str, Any]], name: str) -> float | None:
    given = [row[name] for row in rows if name in row]
    return sum(given) if given else None
