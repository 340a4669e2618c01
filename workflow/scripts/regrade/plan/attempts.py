"""How often a job has ended in an infrastructure error: what retries are planned from."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regrade import files


class Attempts:
    """Counts errors of jobs, up to the number of retries, and reads each count once.

    A job that ended in an error has one more behind it than when it was planned, so its specification changed and it
    is planned again; after `most` errors the number stands still. A job that the budget stopped is planned again when
    the budget is one that has not stopped it yet. Snakemake asks for params twice, before and after the jobs that come
    first, and must get the same answer.
    """

    def __init__(self, most: int, budget_usd: float | None) -> None:
        self._most = most
        self._budget_usd = budget_usd
        self._seen: dict[tuple[Path, str], int] = {}

    def of(self, errors: Path, digest: str) -> int:
        """The attempts behind the job with this digest, from its file of errors."""
        return self._once(errors, digest, lambda: {digest})

    def of_rows(self, errors: Path, planned: Callable[[], set[str]]) -> int:
        """The attempts behind all rows of a file together; only rows that are still planned (by digest) count."""
        return self._once(errors, "", planned)

    def used_up(self, errors: Path) -> set[str]:
        """The digests that have failed so often that they are not tried again."""
        failed = Counter(row["digest"] for row in files.read_jsonl(errors) if row["reason"] != "budget")
        return {digest for digest, count in failed.items() if count > self._most}

    def _once(self, errors: Path, name: str, planned: Callable[[], set[str]]) -> int:
        if (errors, name) not in self._seen:
            rows = list(files.read_jsonl(errors))
            self._seen[errors, name] = self._count(rows, planned()) if rows else 0
        return self._seen[errors, name]

    def _count(self, rows: list[dict[str, Any]], planned: set[str]) -> int:
        failed: dict[str, int] = {}
        stopped: set[tuple[str, float | None]] = set()
        for row in rows:
            digest = row["digest"]
            if digest not in planned:
                continue
            if row["reason"] != "budget":
                failed[digest] = failed.get(digest, 0) + 1
            elif row.get("budget_usd") != self._budget_usd:
                stopped.add((digest, row.get("budget_usd")))
        return sum(min(count, self._most) for count in failed.values()) + len(stopped)
