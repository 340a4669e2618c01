"""Writes events.jsonl, the log of a warehouse: receipts, shipments, counts, and some lines sent twice."""

import argparse
import json
import random
from pathlib import Path

EVENTS = 900
SKUS = 40


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--instance-id", required=True)
    arguments = parser.parse_args()
    events = make_events(random.Random(arguments.seed))
    text = "".join(json.dumps(event) + "\n" for event in events)
    (arguments.output_dir / "events.jsonl").write_bytes(text.encode())


def make_events(rng: random.Random) -> list[dict]:
    skus = [f"{rng.choice('ABCDEFGH')}{number:03d}" for number in rng.sample(range(1000), SKUS)]
    events: list[dict] = []
    for number in range(EVENTS):
        kind = rng.choices(["receive", "ship", "count"], weights=[36, 58, 6])[0]
        quantity = rng.randrange(0, 60) if kind == "count" else rng.randint(1, 40)
        event = {"id": f"e{number + 1:05d}", "type": kind, "sku": rng.choice(skus), "qty": quantity}
        events.append(event)
        if rng.random() < 0.08:
            events.append(dict(rng.choice(events[-30:])))
    return events


if __name__ == "__main__":
    main()
