"""Try graders: on their references, on wrong artifacts, or on what their details tell.

--positive  every reference must pass with score 1.0, twice alike
--negative  every wrong artifact (negative_cases.py, or six default ones) must be rejected
--leaks     no detail may print the answer, and verifiers must be declared
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from regrade.errors import FaultsError, UsageError
from regrade.formats import artifact
from regrade.gates import Finding, report, shown
from regrade.gates.run import lints, negative_gate, positive_gate
from regrade.nearest import nearest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    gate = parser.add_mutually_exclusive_group(required=True)
    for name in ("positive", "negative", "leaks"):
        gate.add_argument(f"--{name}", dest="gate", action="store_const", const=name, help="see above")
    parser.add_argument(
        "--tasks-dir", type=Path, default=Path("problems/artifact"), metavar="DIR",
        help="a folder laid out as <category>/<slug>/task.yaml (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--filter", action="append", default=[], metavar="ID", help="only this task; may be given more than once"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="tasks at once")
    parser.add_argument("--nan", action="store_true", help="with --negative, one case more: every number as NaN")
    parser.add_argument("--json", action="store_true", help="print each result as a JSON object")
    parser.add_argument("--sandbox", choices=("bubblewrap", "none"), default="bubblewrap", help="what to run it in")


def run(args: argparse.Namespace) -> int:
    """Exit code 0, 1 if a grader does not hold, 2 for a folder that has no task or does not load."""
    try:
        return _report(args, _findings(args))
    except FaultsError as error:
        print(error, file=sys.stderr)
        return 2


def _findings(args: argparse.Namespace) -> Iterable[Finding]:
    if args.gate == "leaks":
        return lints(_folders(args.tasks_dir, args.filter))
    tasks = artifact.pick(artifact.load_all(args.tasks_dir), args.filter, args.tasks_dir)
    if args.gate == "positive":
        return positive_gate(tasks, args.jobs, args.sandbox)
    return negative_gate(tasks, args.jobs, args.sandbox, args.nan)


def _folders(tasks_dir: Path, wanted: list[str]) -> Iterator[tuple[str, Path]]:
    folders = artifact.discover(tasks_dir)
    unknown = [identifier for identifier in wanted if identifier not in folders]
    if unknown or not folders:
        about = ", ".join(f"{identifier!r}{nearest(identifier, folders)}" for identifier in unknown)
        expected = "expected <category>/<slug>/task.yaml below it"
        raise UsageError(f"No matching tasks in {tasks_dir}: {about or expected}")
    return ((identifier, folder) for identifier, folder in folders.items() if not wanted or identifier in wanted)


def _report(args: argparse.Namespace, findings: Iterable[Finding]) -> int:
    statuses = {"positive": report.POSITIVE, "negative": report.NEGATIVE, "leaks": report.LINTS}[args.gate]
    seen = []
    for finding in findings:
        seen.append(finding)
        print(json.dumps(_as_json(args.gate, finding)) if args.json else _as_line(finding), flush=True)
        for warning in finding.warnings:
            print(f"warning: {finding.instance_id}: {warning}", file=sys.stderr)
    print(report.counts(seen, statuses), file=sys.stderr if args.json else sys.stdout)
    return 1 if any(finding.is_bad for finding in seen) else 0


def _as_json(gate: str, finding: Finding) -> dict[str, Any]:
    row: dict[str, Any] = {"instance_id": finding.instance_id}
    if gate == "negative":
        row["case"] = finding.case
    row["status"] = finding.status
    if gate == "positive":
        row["score"] = finding.score
    return {**row, "detail": finding.detail[:500]}


def _as_line(finding: Finding) -> str:
    name = f"{finding.instance_id}::{finding.case}" if finding.case else finding.instance_id
    return f"{finding.status:13} {name}  {shown(finding.detail)}".rstrip()
