"""Write grants.jsonl and suspended.txt: who belongs to what and what that allows, as an access system has it."""

from __future__ import annotations

import argparse
import json
import random
from datetime import date, timedelta
from pathlib import Path

USERS, GROUPS, ROLES = 130, 30, 20
AREAS = ("invoice", "ledger", "payout", "vendor", "report")
ACTIONS = ("create", "read", "update", "delete", "approve")
AUDIT_DAY = date(2026, 6, 30)
WANTED_RIGHTS = ("invoice:delete", "invoice:*", "*:delete", "*:*")

Edge = dict[str, str | None]


def draw_span(rng: random.Random) -> tuple[date | None, date | None]:
    """Return the first and last day of a grant: mostly valid on the audit day, often by one day."""
    near = rng.choice((0, 0, 1, 30))
    kind = rng.randrange(100)
    if kind < 12:
        return AUDIT_DAY - timedelta(days=200), AUDIT_DAY - timedelta(days=1 + near)
    if kind < 20:
        return AUDIT_DAY + timedelta(days=1 + near), None
    start = AUDIT_DAY - timedelta(days=near) if rng.randrange(2) else None
    end = AUDIT_DAY + timedelta(days=near) if rng.randrange(2) else None
    return start, end


def make_edge(rng: random.Random, source: str, target: str) -> Edge:
    """Return a grant from source to target."""
    start, end = draw_span(rng)
    return {
        "from": source,
        "to": target,
        "start": start.isoformat() if start else None,
        "end": end.isoformat() if end else None,
    }


def make_pairs(rng: random.Random) -> list[tuple[str, str]]:
    """Return (from, to) of all grants: memberships, nested groups with cycles, inherited roles, rights."""
    users = [f"u-{number}" for number in rng.sample(range(1000, 10000), USERS)]
    groups = [f"g-{number}" for number in rng.sample(range(100, 1000), GROUPS)]
    roles = [f"r-{number}" for number in rng.sample(range(100, 1000), ROLES)]
    pairs = [(user, group) for user in users for group in rng.sample(groups, rng.choice((1, 1, 2)))]
    pairs += [(user, rng.choice(roles)) for user in rng.sample(users, USERS // 8)]
    pairs += [
        (group, other) for group in groups for other in rng.sample(groups, rng.choice((0, 1, 2, 2))) if other != group
    ]
    for nodes in (groups, roles):
        for ring in (rng.sample(nodes, size) for size in (2, 2, 3, 3)):
            pairs += list(zip(ring, ring[1:] + ring[:1], strict=True))
    pairs += [(group, role) for group in groups for role in rng.sample(roles, rng.choice((0, 1, 2)))]
    pairs += [(role, other) for role in roles for other in rng.sample(roles, rng.choice((0, 1, 2, 2))) if other != role]
    other_rights = [f"{area}:{action}" for area in AREAS for action in (*ACTIONS, "*")]
    other_rights = [right for right in other_rights if right not in WANTED_RIGHTS] + ["*:read", "*:approve"]
    pairs += [(role, right) for role in roles for right in rng.sample(other_rights, 3)]
    pairs += list(zip(rng.sample(roles, 2 * len(WANTED_RIGHTS)), 2 * WANTED_RIGHTS, strict=True))
    return pairs


def write_inputs(seed: int, output_dir: Path) -> None:
    """Write both files below output_dir; the same seed gives the same bytes."""
    rng = random.Random(seed)
    pairs = make_pairs(rng)
    pairs += rng.sample(pairs, len(pairs) // 12)
    rng.shuffle(pairs)
    lines = [json.dumps(make_edge(rng, source, target)) for source, target in pairs]
    nodes = sorted({source for source, _ in pairs})
    suspended = rng.sample(nodes, len(nodes) // 14)
    (output_dir / "grants.jsonl").write_bytes(("\n".join(lines) + "\n").encode())
    (output_dir / "suspended.txt").write_bytes(("\n".join(suspended) + "\n").encode())


def main() -> None:
    """Read the command line that every task generator gets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--instance-id", required=True)
    args = parser.parse_args()
    write_inputs(args.seed, args.output_dir)


if __name__ == "__main__":
    main()
