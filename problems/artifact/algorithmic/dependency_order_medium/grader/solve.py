"""Make the reference from the inputs: python solve.py WORKSPACE > reference_output.jsonl"""

from __future__ import annotations

import json
import sys
from pathlib import Path

Graph = dict[str, set[str]]


def reach(graph: Graph, starts: set[str]) -> set[str]:
    """Return starts and everything that can be reached from them."""
    found, waiting = set(starts), list(starts)
    while waiting:
        for other in graph[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def find_batches(graph: Graph) -> list[set[str]]:
    """Return the sets of packages that reach each other."""
    reached = {name: reach(graph, {name}) for name in graph}
    batches = {min(group): group for group in ({o for o in reached[n] if n in reached[o]} for n in sorted(graph))}
    return list(batches.values())


def solve(workspace: Path) -> str:
    """Return the text of the right artifact for the inputs in workspace."""
    lines = (workspace / "packages.jsonl").read_text(encoding="utf-8").splitlines()
    packages = {package["name"]: package for package in map(json.loads, lines)}
    targets = set((workspace / "targets.txt").read_text(encoding="utf-8").split())
    chosen = reach({name: set(package["requires"]) for name, package in packages.items()}, targets)
    graph = {n: {*packages[n]["requires"], *packages[n]["optional"]} & chosen for n in chosen}
    waiting = [
        (
            sum(packages[name]["size_kb"] for name in batch),
            sorted(batch),
            set().union(*(graph[n] for n in batch)) - batch,
        )
        for batch in find_batches(graph)
    ]
    rows, installed, total = [], set(), 0
    while waiting:
        size, names, needs = min((batch for batch in waiting if batch[2] <= installed), key=lambda batch: batch[:2])
        waiting.remove((size, names, needs))
        installed.update(names)
        total += size
        rows.append({"step": len(rows) + 1, "packages": names, "total_kb": total})
    return "".join(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    sys.stdout.write(solve(Path(sys.argv[1])))
