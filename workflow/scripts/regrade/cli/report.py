"""Report on pack runs: what each was made with, how its cases came out, and their medians. Prints Markdown."""

import argparse
from pathlib import Path

from regrade import files
from regrade.errors import RegradeError
from regrade.packs import report
from regrade.packs.read import runs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("runs", type=Path, nargs="+", metavar="DIR", help="a run directory")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report into a file instead of printing it")


def run(args: argparse.Namespace) -> int:
    """Exit code 0, or 1 if a directory cannot be read or the file not be written."""
    text = report.page(runs(args.runs))
    if args.out is None:
        print(text, end="")
        return 0
    try:
        files.write_text(args.out, text)
    except OSError as error:
        raise RegradeError(f"{args.out}: cannot be written: {error.strerror}") from error
    return 0
