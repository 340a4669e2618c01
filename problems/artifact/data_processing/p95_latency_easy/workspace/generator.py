"""Write access.jsonl: the requests that a small shop's API served in one day."""

from __future__ import annotations

import argparse
import json
import random
from datetime import datetime, timedelta
from pathlib import Path

REQUESTS = 4600
START = datetime(2026, 3, 2)
RESOURCES = ("carts", "coupons", "invoices", "items", "orders", "parcels", "prices", "refunds", "stock", "suppliers")
ACTIONS = ("", "/search", "/export", "/history")
GOOD_STATUSES = (200, 200, 200, 200, 200, 201, 204, 304, 400, 404, 429, 499)
BAD_STATUSES = (500, 500, 502, 503, 504)


def make_endpoints(rng: random.Random) -> list[tuple[str, int, int]]:
    """Return (path, base latency in ms, weight) of every endpoint."""
    paths = [f"/api/{resource}{action}" for resource in RESOURCES for action in ACTIONS]
    return [(path, 10 + 5 * rng.randrange(30), 1 + rng.randrange(9)) for path in paths]


def draw_latency(rng: random.Random, base: int, status: int) -> int:
    """Return a latency in ms: mostly near the base, sometimes slow, nearly always slow when the server failed."""
    slow = rng.randrange(100) < (85 if status >= 500 else 8)
    return base * (4 if slow else 1) + rng.randrange(base)


def make_request(rng: random.Random, endpoints: list[tuple[str, int, int]], wheel: list[int]) -> dict[str, object]:
    """Return one request without its time."""
    path, base, _ = endpoints[rng.choice(wheel)]
    status = rng.choice(BAD_STATUSES if rng.randrange(100) < 9 else GOOD_STATUSES)
    query = f"?page={rng.randrange(1, 40)}&size={rng.choice((10, 25, 50))}" if rng.randrange(10) < 3 else ""
    method = rng.choice(("GET", "GET", "GET", "POST"))
    return {"method": method, "path": path + query, "status": status, "latency_ms": draw_latency(rng, base, status)}


def write_log(seed: int, output_dir: Path) -> None:
    """Write access.jsonl below output_dir; the same seed gives the same bytes."""
    rng = random.Random(seed)
    endpoints = make_endpoints(rng)
    wheel = [index for index, (_, _, weight) in enumerate(endpoints) for _ in range(weight)]
    moment, lines = START, []
    for _ in range(REQUESTS):
        moment += timedelta(milliseconds=rng.randrange(200, 37000))
        ts = moment.isoformat(timespec="milliseconds") + "Z"
        lines.append(json.dumps({"ts": ts, **make_request(rng, endpoints, wheel)}))
    (output_dir / "access.jsonl").write_bytes(("\n".join(lines) + "\n").encode())


def main() -> None:
    """Read the command line that every task generator gets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--instance-id", required=True)
    args = parser.parse_args()
    write_log(args.seed, args.output_dir)


if __name__ == "__main__":
    main()
