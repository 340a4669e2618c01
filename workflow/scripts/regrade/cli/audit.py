"""Audit a SelfBench task: its size, overlaps of its patches, and how its test command takes the selected tests."""

import argparse
import json
from pathlib import Path

from regrade.errors import FaultsError
from regrade.formats.selfbench.audit import audit
from regrade.formats.selfbench.load import faults, read


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("task", type=Path, metavar="TASK_DIR", help="the folder with definition.json and two patches")
    parser.add_argument("--json", action="store_true", help='print {"accepted", "blockers", "metrics"}')


def run(args: argparse.Namespace) -> int:
    """Exit code 0 if nothing stands against the task, else 1.

    Raises FaultsError for a definition with faults, and for a task without blockers that breaks a rule of paths.
    """
    task = read(args.task)
    found = audit(task)
    if found.accepted and (broken := list(faults(task))):
        raise FaultsError(broken)
    if args.json:
        print(json.dumps({"accepted": found.accepted, "blockers": found.blockers, "metrics": found.metrics}))
        return int(not found.accepted)
    for blocker in found.blockers:
        print(blocker)
    counts = ", ".join(f"{name} {count}" for name, count in found.metrics.items())
    print(f"{'accepted' if found.accepted else 'rejected'}: {counts}")
    return int(not found.accepted)
