"""Say what this machine can and cannot do: a line for each capability. Exit code 1 if benchmarks cannot run here."""

import argparse
from dataclasses import asdict
from pathlib import Path

from regrade import doctor
from regrade.files import to_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("--json", action="store_true", help="print each capability as a JSON object")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 if all that benchmarks need is here, else 1."""
    findings = []
    for finding in doctor.examine(Path()):
        print(to_json(asdict(finding)) if args.json else finding, flush=True)
        findings.append(finding)
    return 0 if doctor.can_run(findings) else 1
