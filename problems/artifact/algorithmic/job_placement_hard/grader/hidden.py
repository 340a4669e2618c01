"""Grade output/placement.json: is it allowed, does it cost what it says, and is there no cheaper one?

The reference is one cheapest placement. That none is cheaper was shown twice: by an integer program solved to
optimality, and by a search through all sets of machines that could cost less.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from pathlib import Path

from regrade_artifact import ArtifactFault, GradeResult, graded, is_integer, is_object, read_json

ARTIFACT = "output/placement.json"
INPUT = "cluster.json"
INPUT_SHA256 = "fbfc891deee8529e1b95dc116e40d8d7d62a156baf921d3a5971434251d12ff8"
BEST = read_json(Path(__file__).parent, "reference_output.json")

Item = dict[str, object]


class Cluster:
    """The task's inputs, and what a placement means on them."""

    def __init__(self, text: bytes) -> None:
        data = json.loads(text)
        self.machines: dict[str, Item] = {machine["id"]: machine for machine in data["machines"]}
        self.jobs: dict[str, Item] = {job["id"]: job for job in data["jobs"]}
        self.traffic: list[Item] = data["traffic"]
        self.licence_price: dict[str, int] = data["licence_price"]
        self.zone_price = {frozenset((row["a"], row["b"])): row["per_gb"] for row in data["zone_price"]}

    def group(self, placement: dict[str, str]) -> dict[str, list[Item]]:
        """Return the jobs on each machine that is on."""
        placed: dict[str, list[Item]] = defaultdict(list)
        for job, machine in placement.items():
            placed[machine].append(self.jobs[job])
        return placed

    def find_breach(self, placement: dict[str, str]) -> str:
        """Return the first rule that the placement breaks, or the empty text."""
        placed = self.group(placement)
        for name, jobs in placed.items():
            machine = self.machines[name]
            if any(sum(job[unit] for job in jobs) > machine[unit] for unit in ("cpu", "mem")):
                return "rule 2: a machine is loaded beyond its cpu or mem"
            if any(job["ssd"] and not machine["ssd"] for job in jobs):
                return "rule 3: a job that needs ssd is on a machine without"
        return self.find_replica_breach(placement) or self.find_failover_breach(placed)

    def find_replica_breach(self, placement: dict[str, str]) -> str:
        """Return how the jobs of some service stand too close together, or the empty text."""
        spread: dict[object, list[str]] = defaultdict(list)
        for job, machine in placement.items():
            spread[self.jobs[job]["service"]].append(machine)
        for machines in spread.values():
            zones = {self.machines[machine]["zone"] for machine in machines}
            if len(machines) > 1 and (len(set(machines)) < len(machines) or len(zones) == 1):
                return "rule 4: jobs of one service share a machine, or are all in one zone"
        return ""

    def find_failover_breach(self, placed: dict[str, list[Item]]) -> str:
        """Return that the largest job of some machine could not move within its zone, or the empty text."""
        free = {name: self.machines[name]["mem"] - sum(job["mem"] for job in jobs) for name, jobs in placed.items()}
        for name, jobs in placed.items():
            zone = self.machines[name]["zone"]
            spare = sum(free[other] for other in placed if other != name and self.machines[other]["zone"] == zone)
            if spare < max(job["mem"] for job in jobs):
                return "rule 5: the largest job of a machine does not fit on the rest of its zone"
        return ""

    def price(self, placement: dict[str, str]) -> int:
        """Return what the placement costs."""
        total = 0
        for name, jobs in self.group(placement).items():
            machine = self.machines[name]
            hot = 5 * sum(job["cpu"] for job in jobs) > 4 * machine["cpu"]
            total += machine["price"] + (machine["surcharge"] if hot else 0)
            total += sum(self.licence_price[licence] for licence in {job["licence"] for job in jobs} - {None})
        for flow in self.traffic:
            zones = frozenset(self.machines[placement[flow[end]]]["zone"] for end in ("a", "b"))
            total += flow["gb"] * self.zone_price.get(zones, 0)
        return total


def check_answer(answer: object, cluster: Cluster) -> tuple[int, dict[str, str]]:
    """Return (total_cost, placement), or refuse what does not have the form that was asked for."""
    if not is_object(answer, {"total_cost", "placement"}):
        raise ArtifactFault("the artifact must be an object with the keys total_cost and placement and no other")
    total, placement = answer["total_cost"], answer["placement"]
    if not is_integer(total) or type(placement) is not dict:
        raise ArtifactFault("total_cost must be an integer and placement an object")
    if set(placement) != set(cluster.jobs):
        raise ArtifactFault("rule 1: placement must name every job and nothing else")
    if any(type(machine) is not str or machine not in cluster.machines for machine in placement.values()):
        raise ArtifactFault("placement must give every job the id of a machine")
    return total, placement


def read_cluster(scratch_dir: Path) -> Cluster:
    """Return the inputs; an agent that rewrote them has graded nothing but its own task."""
    path = scratch_dir / INPUT
    text = path.read_bytes() if os.path.isfile(path) else b""
    if hashlib.sha256(text).hexdigest() != INPUT_SHA256:
        raise ArtifactFault(f"{INPUT} is not the file that the task came with")
    return Cluster(text)


def compare(total: int, placement: dict[str, str], cluster: Cluster, least: int) -> GradeResult:
    """Score an allowed placement by how near it is to the least cost; only the least passes."""
    breach = cluster.find_breach(placement)
    if breach:
        return GradeResult(False, 0.0, f"the placement is not allowed: {breach}")
    cost = cluster.price(placement)
    near = 0.9 * min(1.0, least / cost)
    if total != cost:
        return GradeResult(False, near / 2, "the placement is allowed, but total_cost is not what it costs")
    if cost > least:
        return GradeResult(False, near, "the placement is allowed, but there is a cheaper one")
    return GradeResult(True, 1.0, "the placement is allowed and none is cheaper")


@graded
def grade(scratch_dir: Path) -> GradeResult:
    """Return the verdict on the artifact below scratch_dir; never raises for what an agent wrote."""
    cluster = read_cluster(scratch_dir)
    total, placement = check_answer(read_json(scratch_dir, ARTIFACT), cluster)
    return compare(total, placement, cluster, cluster.price(BEST["placement"]))
