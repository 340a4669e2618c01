"""Makes the reference from a materialized workspace: python solve.py WORKSPACE > reference_output.csv"""

import json
import sys
from pathlib import Path


def solve(workspace: Path) -> str:
    seen: set[str] = set()
    on_hand: dict[str, int] = {}
    refused: dict[str, int] = {}
    for line in (workspace / "events.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["id"] in seen:
            continue
        seen.add(event["id"])
        sku, quantity = event["sku"], event["qty"]
        on_hand.setdefault(sku, 0)
        refused.setdefault(sku, 0)
        if event["type"] == "receive":
            on_hand[sku] += quantity
        elif event["type"] == "count":
            on_hand[sku] = quantity
        elif quantity > on_hand[sku]:
            refused[sku] += 1
        else:
            on_hand[sku] -= quantity
    rows = [f"{sku},{on_hand[sku]},{refused[sku]}\n" for sku in sorted(on_hand)]
    return "sku,on_hand,refused\n" + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(solve(Path(sys.argv[1])))
