"""Compare results. Prints Markdown, or JSON for pairs.

Of run directories of packs: medians case by case, and whether their prefill speeds mean the same. Of records (a file, a
set's folder, a run directory of another format) two at a time: pairs of the same task, flips, and whether the
difference is more than chance.
"""

import argparse
import json
from pathlib import Path

from regrade.errors import RegradeError, UsageError
from regrade.packs import compare
from regrade.packs.read import runs
from regrade.suites import comparison, records_file
from regrade.suites.pairs import pair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("runs", type=Path, nargs="+", metavar="PATH", help="results; at least two")
    parser.add_argument("--as", dest="form", choices=("medians", "pairs"), help="default: medians if all are of packs")
    parser.add_argument("--json", action="store_true", help="print pairs as JSON")
    parser.add_argument(
        "--fail-on-regression", action="store_true", help="exit code 1 if a task passed in the first alone"
    )


def run(args: argparse.Namespace) -> int:
    """Exit code 0; 1 for a regression where that is asked for, and for results that cannot be read."""
    if len(args.runs) < 2:
        raise RegradeError(f"{args.runs[0]}: is the only one, expected at least two to compare")
    if (args.form or _form(args.runs)) == "medians":
        if args.json or args.fail_on_regression:
            raise UsageError("--json and --fail-on-regression are for pairs, expected --as pairs beside them")
        print(compare.page(runs(args.runs)), end="")
        return 0
    if len(args.runs) != 2:
        raise UsageError(f"pairs are made of two results, expected two, got {len(args.runs)}")
    pairs = pair(*(records_file.load(path) for path in args.runs))
    names = (str(args.runs[0]), str(args.runs[1]))
    print(json.dumps(comparison.as_value(pairs)) if args.json else comparison.page(pairs, names), end="")
    return int(args.fail_on_regression and any(arm.regressions for arm in pairs.arms))


def _form(paths: list[Path]) -> str:
    """`pairs` as soon as one of them is records; what is neither is told so as a run directory of packs."""
    return "pairs" if any(_is_records(path) for path in paths) else "medians"


def _is_records(path: Path) -> bool:
    try:
        with (path / "run.jsonl").open("rb") as stream:
            row = json.loads(stream.readline() or b"{}")
    except (OSError, ValueError):
        return path.is_file() or any((path / name).is_file() for name in records_file.NAMES if name != "run.jsonl")
    return isinstance(row, dict) and "task" in row
