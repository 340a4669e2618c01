"""Apply the patch in a model's answer to a folder, or show what a folder's content has become."""

import argparse
import json
import sys
from pathlib import Path

from regrade.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    apply = actions.add_parser("apply", help="apply the first fenced diff, patch or whole file of an answer")
    apply.add_argument("workspace", type=Path, metavar="WORKSPACE", help="the folder to change")
    apply.add_argument("--response", type=Path, required=True, metavar="FILE", help="the model's answer")
    capture = actions.add_parser("capture", help="print the difference between two folders")
    capture.add_argument("source", type=Path, metavar="SOURCE", help="the folder as it was")
    capture.add_argument("workspace", type=Path, metavar="WORKSPACE", help="the folder as it is")


def run(args: argparse.Namespace) -> int:
    """`apply` prints {"applied", "stdout", "stderr"} and ends with 0 or, not applied, 1; `capture` ends with 0."""
    return _apply(args) if args.action == "apply" else _capture(args)


def _apply(args: argparse.Namespace) -> int:
    from regrade.patches.apply import apply_response

    _expect_folder(args.workspace)
    try:
        response = args.response.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise UsageError(f"{args.response}: {error.strerror}, expected a file with the model's answer") from error
    applied = apply_response(args.workspace, response, None)
    sys.stderr.write(applied.detail)
    print(json.dumps({"applied": applied.applied, "stdout": applied.stdout, "stderr": applied.stderr}))
    return 0 if applied.applied else 1


def _capture(args: argparse.Namespace) -> int:
    from regrade.patches.snapshot import capture

    for folder in (args.source, args.workspace):
        _expect_folder(folder)
    sys.stdout.buffer.write(capture(args.source, args.workspace))
    sys.stdout.flush()
    return 0


def _expect_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder}: is no folder")
