"""Makes the reference from a materialized workspace: python solve.py WORKSPACE > reference_output.json"""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

NOW = "2026-03"


def solve(workspace: Path) -> str:
    with (workspace / "customers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    fits = [fit(plan, [row for row in rows if row["plan"] == plan]) for plan in sorted({row["plan"] for row in rows})]
    return "[\n" + ",\n".join("  " + json.dumps(fitted) for fitted in fits) + "\n]\n"


def fit(plan: str, rows: list[dict[str, str]]) -> dict:
    """In month t `left[t]` customers left and `stayed[t]` stayed: all that the likelihood depends on."""
    left: dict[int, int] = {}
    stayed: dict[int, int] = {}
    for row in rows:
        months = read_month(row["ended"] or NOW) - read_month(row["started"])
        if row["ended"]:
            left[months] = left.get(months, 0) + 1
        for month in range(1, months + (not row["ended"])):
            stayed[month] = stayed.get(month, 0) + 1
    alpha, beta = maximise(left, stayed)
    return {"plan": plan, "alpha": round(alpha, 6), "beta": round(beta, 6), "s36": round(share(alpha, beta, 36), 6)}


def maximise(left: dict[int, int], stayed: dict[int, int]) -> tuple[float, float]:
    """For each beta the best alpha is a root; the best beta is where the slope along these roots is zero."""
    months = sorted(left.keys() | stayed.keys())

    def pull(alpha: float, beta: float) -> float:
        return sum((left.get(t, 0) + stayed.get(t, 0)) / (alpha + beta + t - 1) for t in months)

    def best_alpha(beta: float) -> float:
        return bisect(lambda alpha: sum(left.values()) - alpha * pull(alpha, beta))

    def slope(beta: float) -> float:
        return sum(count / (beta + t - 1) for t, count in stayed.items()) - pull(best_alpha(beta), beta)

    beta = bisect(slope)
    return best_alpha(beta), beta


def bisect(falling: Callable[[float], float]) -> float:
    low, high = 1e-6, 1e4
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def share(alpha: float, beta: float, months: int) -> float:
    staying = 1.0
    for month in range(1, months + 1):
        staying *= (beta + month - 1) / (alpha + beta + month - 1)
    return staying


def read_month(text: str) -> int:
    year, month = text.split("-")
    return 12 * int(year) + int(month)


if __name__ == "__main__":
    sys.stdout.write(solve(Path(sys.argv[1])))
