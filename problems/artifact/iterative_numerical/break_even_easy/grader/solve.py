"""Makes the reference from a materialized workspace: python solve.py WORKSPACE > reference_output.jsonl"""

import csv
import json
import math
import sys
from pathlib import Path


def solve(workspace: Path) -> str:
    with (workspace / "plans.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return "".join(json.dumps({"plan": row["plan"], "price": find_price(row)}) + "\n" for row in rows)


def find_price(row: dict[str, str]) -> float | None:
    """Bisect between the unit cost, where the profit is negative, and the price of the highest profit."""
    cost, base, scale, fixed = (float(row[key]) for key in ("unit_cost", "base", "scale", "fixed"))

    def profit(price: float) -> float:
        return (price - cost) * base * math.exp(-price / scale) - fixed

    low, high = cost, cost + scale
    if profit(high) < 0:
        return None
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if profit(middle) < 0 else (low, middle)
    return round(high, 6)


if __name__ == "__main__":
    sys.stdout.write(solve(Path(sys.argv[1])))
