"""Writes customers.csv: customers of five plans, some of whom have left."""

import argparse
import random
from pathlib import Path

MONTHS = 26
NOW = 2026 * 12 + 2  # 2026-03, in months
PLANS = {"basic": 700, "family": 420, "premium": 520, "student": 560, "trial": 640}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--instance-id", required=True)
    arguments = parser.parse_args()
    rows = make_rows(random.Random(arguments.seed))
    text = "customer,plan,started,ended\n" + "".join(f"{row}\n" for row in rows)
    (arguments.output_dir / "customers.csv").write_bytes(text.encode())


def make_rows(rng: random.Random) -> list[str]:
    lives = []
    for plan, size in PLANS.items():
        alpha, beta = rng.randint(60, 160) / 100, rng.randint(250, 900) / 100
        for _ in range(size):
            started = NOW - rng.randrange(MONTHS)
            ended = started + draw_months(rng, alpha, beta)
            lives.append(f"{plan},{write_month(started)},{write_month(ended) if ended <= NOW else ''}")
    rng.shuffle(lives)
    return [f"{number},{life}" for number, life in enumerate(lives, start=100001)]


def draw_months(rng: random.Random, alpha: float, beta: float) -> int:
    """Draw by products alone, since functions such as exp differ in their last digit between machines."""
    left, staying = rng.random(), 1.0
    for month in range(1, MONTHS + 1):
        staying *= (beta + month - 1) / (alpha + beta + month - 1)
        if left >= staying:
            return month
    return MONTHS + 1


def write_month(months: int) -> str:
    return f"{months // 12}-{months % 12 + 1:02d}"


if __name__ == "__main__":
    main()
