"""Make the reference from the inputs: python solve.py WORKSPACE > reference_output.jsonl"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

DAY = "2026-06-30"
MOST_EDGES = 6


def read_graph(workspace: Path) -> dict[str, set[str]]:
    """Return what each node leads to on the audit day."""
    suspended = set((workspace / "suspended.txt").read_text(encoding="utf-8").split())
    graph: dict[str, set[str]] = defaultdict(set)
    for line in (workspace / "grants.jsonl").read_text(encoding="utf-8").splitlines():
        edge = json.loads(line)
        valid = (edge["start"] or DAY) <= DAY <= (edge["end"] or DAY)
        if valid and not suspended & {edge["from"], edge["to"]}:
            graph[edge["from"]].add(edge["to"])
    return graph


def walk(graph: dict[str, set[str]], path: list[str]) -> Iterator[list[str]]:
    """Yield every path that goes on from this one to a right that covers invoice:delete."""
    area, colon, action = path[-1].partition(":")
    if colon:
        if area in ("invoice", "*") and action in ("delete", "*"):
            yield path
    elif len(path) <= MOST_EDGES:
        for node in graph.get(path[-1], set()) - set(path):
            yield from walk(graph, [*path, node])


def solve(workspace: Path) -> str:
    """Return the text of the right artifact for the inputs in workspace."""
    graph = read_graph(workspace)
    paths = [path for node in list(graph) if node.startswith("u-") for path in walk(graph, [node])]
    paths.sort(key=lambda path: (len(path), path))
    return "".join(json.dumps({"path": path, "steps": len(path) - 1}) + "\n" for path in paths)


if __name__ == "__main__":
    sys.stdout.write(solve(Path(sys.argv[1])))
