"""Check what a repair changed in a SelfBench task that was refused."""

import argparse
from pathlib import Path

from regrade.errors import RegradeError
from regrade.formats.selfbench.repair import check_folders


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser("check", help="say whether a repair changed only what it may")
    check.add_argument("old", type=Path, metavar="OLD", help="the task's folder before")
    check.add_argument("new", type=Path, metavar="NEW", help="the task's folder after")
    check.add_argument(
        "--coupling", action="store_true", help="a repair of coupling, which leaves the definition alone"
    )


def run(args: argparse.Namespace) -> int:
    """Exit code 0. Raises RegradeError with what the repair may not change."""
    if error := check_folders(args.old, args.new, args.coupling):
        raise RegradeError(error)
    print("the repair changes only what it may")
    return 0
