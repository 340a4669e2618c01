"""Write packages.jsonl and targets.txt: a package index with optional needs, cycles and much that is not asked for."""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

PACKAGES = 420
TARGETS = 14
CYCLES = 16
FIRST = ("amber", "birch", "cobalt", "delta", "ember", "flint", "garnet", "harbor", "indigo", "juniper", "krill")
SECOND = ("auth", "cache", "codec", "core", "feed", "graph", "http", "index", "json", "kit", "log", "mesh", "net")
THIRD = ("", "-api", "-cli", "-dev")

Package = dict[str, object]


def draw_names(rng: random.Random) -> list[str]:
    """Return the package names, in an order that says nothing about their rank."""
    names = [f"{first}-{second}{third}" for first in FIRST for second in SECOND for third in THIRD]
    return rng.sample(names, PACKAGES)


def make_layered(rng: random.Random, names: list[str]) -> list[Package]:
    """Return packages that need only packages before them in names."""
    packages: list[Package] = []
    for rank, name in enumerate(names):
        near = names[max(0, rank - 60) : rank]
        requires = rng.sample(near, min(len(near), rng.choice((0, 1, 1, 2, 2, 3))))
        optional = rng.sample(near, min(len(near), rng.choice((0, 0, 1, 1, 2))))
        optional = [other for other in optional if other not in requires]
        size = 40 * rng.randrange(1, 30)
        packages.append({"name": name, "size_kb": size, "requires": requires, "optional": optional})
    return packages


def close_cycles(rng: random.Random, packages: list[Package]) -> None:
    """Let some packages need a later one that needs them, by requires or by optional."""
    by_name = {package["name"]: package for package in packages}
    for number in range(CYCLES):
        late = rng.choice(packages[PACKAGES // 8 :])
        early = late
        for _ in range(rng.choice((1, 1, 2, 3))):
            needs = [*early["requires"], *early["optional"]]
            early = by_name[rng.choice(needs)] if needs else early
        field, other = ("requires", "optional") if number % 2 else ("optional", "requires")
        if early is not late and late["name"] not in early[field] + early[other]:
            early[field].append(late["name"])


def write_inputs(seed: int, output_dir: Path) -> None:
    """Write both files below output_dir; the same seed gives the same bytes."""
    rng = random.Random(seed)
    names = draw_names(rng)
    packages = make_layered(rng, names)
    close_cycles(rng, packages)
    targets = rng.sample(names[PACKAGES // 2 :], TARGETS)
    rng.shuffle(packages)
    lines = [json.dumps(package) for package in packages]
    (output_dir / "packages.jsonl").write_bytes(("\n".join(lines) + "\n").encode())
    (output_dir / "targets.txt").write_bytes(("\n".join(targets) + "\n").encode())


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
