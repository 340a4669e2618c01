"""Compare pack runs: medians case by case, and whether their prefill speeds mean the same. Prints Markdown.

Takes run directories of any runner of the format; only their run.jsonl is read.
"""

import argparse
from pathlib import Path

from regrade.errors import RegradeError
from regrade.packs import compare
from regrade.packs.read import runs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("runs", type=Path, nargs="+", metavar="DIR", help="a run directory; at least two")


def run(args: argparse.Namespace) -> int:
    """Exit code 0, or 1 if the directories cannot be compared."""
    if len(args.runs) < 2:
        raise RegradeError(f"{args.runs[0]}: is the only directory, expected at least two to compare")
    print(compare.page(runs(args.runs)), end="")
    return 0
