"""Write a task's inputs into a folder, as an agent would find them: the workspace without its generator, and what
the generator writes. In a folder where that was done before, the generator is skipped, the inputs are restored, and
other files stay."""

import argparse
from pathlib import Path

from regrade.errors import InputsError, UsageError
from regrade.formats import artifact
from regrade.formats.artifact.task import MANIFEST
from regrade.inputs import materialize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("task", type=Path, metavar="TASK_DIR", help="the folder with the task.yaml")
    parser.add_argument("destination", type=Path, metavar="DEST", help="the folder to write into; made if needed")
    parser.add_argument(
        "--sandbox", choices=("bubblewrap", "none"), default="bubblewrap", help="what runs the generator"
    )


def run(args: argparse.Namespace) -> int:
    """Exit code 0, 1 with what is wrong with the task on stderr, 2 if there is no task."""
    if not (args.task / MANIFEST).exists():
        raise UsageError(f"{args.task}: holds no {MANIFEST}, expected a task's folder")
    task = artifact.load(args.task)
    try:
        materialize(task, args.destination, args.sandbox)
    except OSError as error:
        raise InputsError(f"{args.destination}: cannot be written: {error.strerror or error}") from error
    print(args.destination)
    return 0
