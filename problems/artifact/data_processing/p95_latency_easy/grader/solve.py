"""Make the reference from the inputs: python solve.py WORKSPACE > reference_output.jsonl"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path


def solve(workspace: Path) -> str:
    """Return the text of the right artifact for the inputs in workspace."""
    latencies: dict[str, list[int]] = defaultdict(list)
    for line in (workspace / "access.jsonl").read_text(encoding="utf-8").splitlines():
        request = json.loads(line)
        if request["status"] < 500:
            latencies[request["path"].split("?")[0]].append(request["latency_ms"])
    rows = []
    for endpoint, values in latencies.items():
        rank = -(-95 * len(values) // 100)
        rows.append({"endpoint": endpoint, "count": len(values), "p95_ms": sorted(values)[rank - 1]})
    rows.sort(key=lambda row: (-row["p95_ms"], row["endpoint"]))
    return "".join(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    sys.stdout.write(solve(Path(sys.argv[1])))
