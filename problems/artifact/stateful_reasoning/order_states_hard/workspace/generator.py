"""Writes setup.json and events/part-1.jsonl to part-4.jsonl: orders of a shop whose stock is short."""

import argparse
import json
import random
from datetime import datetime, timedelta, timezone
from pathlib import Path

MINUTE, HOUR, DAY = 60, 3600, 86400
START = 1772409600  # 2026-03-02T00:00:00Z
END = START + 24 * DAY
ORDERS = 220
PARTS = 4
SKUS = ["bolt", "cable", "drill", "easel", "fan"]
OFFSETS = [0, 0, 0, 60, 120, -300, 330, -570]
USUAL = ["pay", "pack", "ship", "deliver", "return"]
DELAYS = {
    "pay": [minutes * MINUTE for minutes in (5, 10, 15, 20, 30, 40, 60, 119, 120, 121)],
    "pack": [0, HOUR, 5 * HOUR, DAY],
    "ship": [0, HOUR, 5 * HOUR, 20 * HOUR, DAY, DAY + MINUTE],
    "deliver": [DAY, 3 * DAY],
    "return": [2 * DAY, 14 * DAY, 14 * DAY + MINUTE],
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--instance-id", required=True)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    records = add_corrections(rng, make_events(rng))
    rng.shuffle(records)
    (arguments.output_dir / "events").mkdir(exist_ok=True)
    for part in range(PARTS):
        text = "".join(json.dumps(record) + "\n" for record in records[part::PARTS])
        (arguments.output_dir / "events" / f"part-{part + 1}.jsonl").write_bytes(text.encode())
    setup = {"end": "2026-03-26T00:00:00Z", "stock": {sku: rng.randint(35, 55) for sku in SKUS}}
    (arguments.output_dir / "setup.json").write_bytes((json.dumps(setup, indent=2) + "\n").encode())


def make_events(rng: random.Random) -> list[dict]:
    events: list[dict] = []
    expiries: list[tuple[int, str]] = []
    for number in rng.sample(range(1000, 10000), ORDERS):
        order = f"R{number}"
        sku = rng.choice(SKUS)
        placed = START + rng.randrange(8 * DAY // (5 * MINUTE)) * 5 * MINUTE
        if expiries and rng.random() < 0.25:
            placed, sku = rng.choice(expiries)
            placed += rng.choice([0, 0, MINUTE])
        if rng.random() < 0.1:
            placed = END - rng.choice([DAY, 3 * HOUR, 2 * HOUR, 2 * HOUR, 2 * HOUR - MINUTE, HOUR])
        expiries.append((placed + 2 * HOUR, sku))
        events += make_order(rng, order, sku, placed)
    for _ in range(60):
        at = START + rng.randrange(20 * DAY // (10 * MINUTE)) * 10 * MINUTE
        events.append({"at": at, "type": "restock", "sku": rng.choice(SKUS), "qty": rng.randint(2, 8)})
    for _ in range(30):
        at = START + rng.randrange(10 * DAY // MINUTE) * MINUTE
        stray = f"R{rng.randrange(1000, 10000)}"
        events.append({"at": at, "type": rng.choice(["pay", "cancel", "hold"]), "order": stray})
        if events[-1]["type"] == "pay":
            events[-1]["amount"] = 100 * rng.randint(1, 20)
    names = rng.sample(range(16**5), len(events))
    return [{"event": f"{name:05x}", "rev": 1, **event} for name, event in zip(names, events, strict=True)]


def make_order(rng: random.Random, order: str, sku: str, placed: int) -> list[dict]:
    quantity = rng.randint(1, 5)
    total = quantity * rng.randint(3, 90) * 50
    events = [{"at": placed, "type": "place", "order": order, "sku": sku, "qty": quantity, "total": total}]
    at, owed = placed, total
    for step in USUAL[: rng.choice([0, 1, 2, 3, 4, 5, 5, 5])]:
        at, owed = add_detours(rng, events, order, at, owed, quantity)
        at += rng.choice(DELAYS[step])
        if step == "pay":
            events += pay(rng, order, at, owed)
        else:
            events.append({"at": at, "type": step, "order": order})
        if rng.random() < 0.2:
            kind = rng.choice(["cancel", "cancel", "place", "ship"])
            events.append({"at": at + rng.randint(0, 30) * MINUTE, "type": kind, "order": order})
            if events[-1]["type"] == "place":
                events[-1].update(sku=sku, qty=quantity, total=total)
    return events


def pay(rng: random.Random, order: str, at: int, owed: int) -> list[dict]:
    first = rng.choice([owed, owed, owed, owed // 2, owed + 500, owed - 50])
    payments = [{"at": at, "type": "pay", "order": order, "amount": first}]
    if first < owed and rng.random() < 0.8:
        later = at + rng.choice([0, 5, 30]) * MINUTE
        payments.append({"at": later, "type": "pay", "order": order, "amount": owed - first})
    return payments


def add_detours(
    rng: random.Random, events: list[dict], order: str, at: int, owed: int, quantity: int
) -> tuple[int, int]:
    """Perhaps a hold with its end, perhaps an amendment; gives when it is over and what the order costs then."""
    if rng.random() < 0.22:
        start = at + rng.randint(1, 90) * MINUTE
        length = rng.choice([20 * MINUTE, 3 * HOUR, 26 * HOUR])
        events.append({"at": start, "type": "hold", "order": order})
        if rng.random() < 0.35:
            inside = start + rng.randint(1, 19) * MINUTE
            events.append({"at": inside, "type": "pay", "order": order, "amount": rng.choice([owed, owed // 2])})
        if rng.random() < 0.35:
            events.append({"at": start + length // 2, "type": rng.choice(["cancel", "amend", "pack"]), "order": order})
            if events[-1]["type"] == "amend":
                events[-1].update(qty=quantity, total=owed + 50)
        if rng.random() < 0.9:
            events.append({"at": start + length, "type": "unhold", "order": order})
            at = start + length
    if rng.random() < 0.2:
        at += rng.randint(0, 60) * MINUTE
        more = rng.choice([-400, -50, 0, 50, 1200])
        owed = max(50, owed + more)
        events.append({"at": at, "type": "amend", "order": order, "qty": rng.randint(1, 6), "total": owed})
        if more > 0 and rng.random() < 0.7:
            at += rng.choice([1, 60, 120]) * MINUTE
            events.append({"at": at, "type": "pay", "order": order, "amount": more})
    return at, owed


def add_corrections(rng: random.Random, events: list[dict]) -> list[dict]:
    records = []
    for event in events:
        records.append(written(rng, event))
        fate = rng.random()
        if fate < 0.05:
            records.append(dict(records[-1]))
        elif fate < 0.09:
            records.append(written(rng, {**event, "at": event["at"] + rng.choice([-10, 10, 60]) * MINUTE}))
        elif fate < 0.13:
            moved = event["at"] + rng.choice([-30, -1, 1, 60]) * MINUTE
            records.append(written(rng, {**event, "rev": rng.choice([2, 3, 10]), "at": moved}))
        elif fate < 0.155:
            records.append(written(rng, {**event, "rev": 2, "void": True}))
        elif fate < 0.17:
            records.append(written(rng, {**event, "rev": 2, "void": True}))
            records.append(written(rng, {**event, "rev": rng.choice([3, 11])}))
        elif fate < 0.18:
            records.append(written(rng, {**event, "rev": 2, "at": END + rng.choice([0, MINUTE])}))
    return records


def written(rng: random.Random, event: dict) -> dict:
    offset = rng.choice(OFFSETS)
    at = datetime.fromtimestamp(event["at"], timezone(timedelta(minutes=offset))).isoformat()
    return {**event, "at": at.replace("+00:00", "Z") if offset == 0 and rng.random() < 0.5 else at}


if __name__ == "__main__":
    main()
