"""Write app/ and entrypoints.txt: a source tree in which part of the modules can no longer be reached."""

from __future__ import annotations

import argparse
import random
from pathlib import Path

PACKAGES = (
    "billing",
    "catalog",
    "delivery",
    "identity",
    "messages",
    "partners",
    "pricing",
    "reports",
    "search",
    "storage",
)
NAMES = ("adapters", "batches", "checks", "events", "fields", "filters", "labels", "limits", "models", "queries")
ENTRY_POINTS = ("app.cli", "app.server", "app.worker")
DEAD_PERCENT = 27

Module = str


def name_modules() -> list[Module]:
    """Return the dotted names of all modules that are no entry points."""
    return [f"app.{package}.{name}" for package in PACKAGES for name in NAMES]


def choose_imports(rng: random.Random, live: list[Module], dead: list[Module]) -> dict[Module, list[Module]]:
    """Return what each module imports: everything live hangs on an entry point, nothing dead does."""
    imports: dict[Module, list[Module]] = {module: [] for module in [*ENTRY_POINTS, *live, *dead]}
    placed = list(ENTRY_POINTS)
    for module in live:
        imports[rng.choice(placed)].append(module)
        placed.append(module)
    for module in [*live, *dead]:
        extra = rng.sample(live, rng.randrange(3))
        if module in dead:
            extra += rng.sample(dead, rng.randrange(3))
        imports[module] += [other for other in extra if other != module and other not in imports[module]]
    return imports


def write_import(rng: random.Random, module: Module) -> str:
    """Return an import statement for the module in one of the forms that the task allows."""
    package, name = module.rsplit(".", 1)
    return rng.choice(
        (
            f"import {module}",
            f"import {module} as {name}_module",
            f"from {module} import load_{name}",
            f"from {package} import {name}",
            f"from {package} import ({name} as {name}_part)",
            f"from {module} import (\n    load_{name},\n    save_{name},\n)",
        )
    )


def write_decoy(rng: random.Random, module: Module) -> list[str]:
    """Return lines that name a module without importing it."""
    package, name = module.rsplit(".", 1)
    return rng.choice(
        (
            [f"# import {module}"],
            [f"# from {package} import {name}  (moved)"],
            [f'OLD_HOME = "from {module} import load_{name}"'],
            ['"""', "How it was called before:", "", f"import {module}", '"""'],
            [f"REMOVED = 'import {module}'  # until the next release"],
        )
    )


def write_module(rng: random.Random, module: Module, imports: list[Module], decoys: list[Module]) -> str:
    """Return the source text of a module."""
    name = module.rsplit(".", 1)[1]
    late = [other for other in imports if rng.randrange(5) == 0]
    lines = [f'"""Handles {name}."""', ""]
    for other in imports:
        if other not in late:
            lines += write_import(rng, other).split("\n")
    for decoy in decoys:
        lines += ["", *write_decoy(rng, decoy)]
    for verb in ("load", "save"):
        lines += ["", "", f"def {verb}_{name}(value):"]
        for other in late if verb == "load" else []:
            lines += ["    " + line for line in write_import(rng, other).split("\n")]
        lines += [f"    value += {rng.randrange(100)}" for _ in range(rng.randrange(1, 14))]
        lines.append("    return value")
    return "\n".join(lines) + "\n"


def write_tree(seed: int, output_dir: Path) -> None:
    """Write the source tree below output_dir; the same seed gives the same bytes."""
    rng = random.Random(seed)
    modules = name_modules()
    rng.shuffle(modules)
    cut = len(modules) * DEAD_PERCENT // 100
    dead, live = modules[:cut], modules[cut:]
    imports = choose_imports(rng, live, dead)
    for package in PACKAGES:
        (output_dir / "app" / package).mkdir(parents=True, exist_ok=True)
        (output_dir / "app" / package / "__init__.py").write_bytes(b"")
    (output_dir / "app" / "__init__.py").write_bytes(b"")
    for module, others in imports.items():
        decoys = rng.sample(dead, 1) if rng.randrange(3) == 0 else []
        text = write_module(rng, module, rng.sample(others, len(others)), decoys)
        (output_dir / (module.replace(".", "/") + ".py")).write_bytes(text.encode())
    (output_dir / "entrypoints.txt").write_bytes("".join(f"{name}\n" for name in ENTRY_POINTS).encode())


def main() -> None:
    """Read the command line that every task generator gets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--instance-id", required=True)
    args = parser.parse_args()
    write_tree(args.seed, args.output_dir)


if __name__ == "__main__":
    main()
