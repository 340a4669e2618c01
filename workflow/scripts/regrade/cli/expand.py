"""Show the commands that a SelfBench task's tests are run by."""

import argparse
import json
from pathlib import Path

from regrade.formats.selfbench.expansion import command
from regrade.formats.selfbench.load import read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("task", type=Path, metavar="TASK_DIR", help="the folder with definition.json and two patches")
    parser.add_argument("--json", action="store_true", help='print {"failToPass", "passToPass"}')


def run(args: argparse.Namespace) -> int:
    """Exit code 0. Raises FaultsError for a definition with faults."""
    definition = read(args.task).definition
    commands = {
        "failToPass": command(definition, definition.fail_to_pass),
        "passToPass": command(definition, definition.pass_to_pass),
    }
    if args.json:
        print(json.dumps(commands))
    else:
        print("\n".join(f"{name}: {text}" for name, text in commands.items()))
    return 0
