"""Compile a SelfBench task to a Harbor bundle, or make anew in a bundle what a repair of its task changed.

A refresh leaves the instruction, the reference solution and the repository as they are.
"""

import argparse
from pathlib import Path

from regrade.errors import RegradeError, UsageError
from regrade.formats import selfbench
from regrade.harbor import bundle


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "task", type=Path, nargs="?", metavar="TASK_DIR",
        help="the folder with the definition.json (with --refresh default: the bundle's own task in --tasks-dir)",
    )  # fmt: skip
    parser.add_argument("--repo", type=Path, metavar="PATH", help="a clone or a git bundle with the base commit")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the bundle's folder")
    parser.add_argument("--refresh", type=Path, metavar="BUNDLE", help="the bundle to make anew in part")
    parser.add_argument(
        "--tasks-dir", type=Path, default=Path("problems/selfbench"), metavar="DIR",
        help="where the tasks lie (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Exit code 0, 1 for a task or repository that cannot be compiled, 2 for words that do not fit together."""
    if args.refresh:
        if args.repo or args.out:
            raise UsageError("--refresh goes with neither --repo nor --out, expected a bundle and its task alone")
        folder = args.task or args.tasks_dir / _bundle_id(args.refresh)
        bundle.refresh(args.refresh, selfbench.load(folder))
        print(f"refreshed {args.refresh}")
        return 0
    if not (args.task and args.repo and args.out):
        raise UsageError("expected TASK_DIR --repo PATH --out DIR, or --refresh BUNDLE")
    bundle.compile_task(selfbench.load(args.task), args.repo, args.out)
    print(f"compiled {args.out}")
    return 0


def _bundle_id(folder: Path) -> str:
    found = bundle.bundle_id(folder)
    if found is None:
        raise RegradeError(f"{folder}: is no bundle, expected one that `regrade compile` wrote")
    return found
