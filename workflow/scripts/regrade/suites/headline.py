"""Which records count in headline figures."""

from collections.abc import Iterable
from typing import Any

from regrade.statistics import mean

Row = dict[str, Any]


def is_headline(row: Row) -> bool:
    """Whether a record counts: all do but those of suite tasks of an outer tier or with a high contamination risk."""
    return not row.get("suite") or bool(row["suite"]["headline"])


def headline(rows: Iterable[Row]) -> list[Row]:
    """The records that count; all, if none does."""
    rows = list(rows)
    return [row for row in rows if is_headline(row)] or rows


def counted(row: Row) -> float | None:
    """A record's score where a decision hangs on it: an error is 0; None for what was not run or is not scored."""
    if row["status"] == "error":
        return 0.0
    score: float | None = row["score"]
    return None if row["status"] in ("not_run", "unscored") else score


def mean_score(rows: Iterable[Row]) -> float | None:
    """The mean score of the headline records that have one; None of nothing."""
    return mean([row["score"] for row in headline(rows) if row["score"] is not None])
