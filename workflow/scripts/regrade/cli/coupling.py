"""Look for names that a SelfBench task's hidden tests assert and only its solution says."""

import argparse
import json
from pathlib import Path
from typing import Any

from regrade.errors import UsageError
from regrade.formats.selfbench.coupling import Evidence, gather, resolve
from regrade.formats.selfbench.load import load
from regrade.formats.selfbench.repository import opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("task", type=Path, metavar="TASK_DIR", help="the folder with definition.json and two patches")
    parser.add_argument(
        "--repo", type=Path, required=True, metavar="PATH", help="a clone or bundle with its base commit"
    )
    parser.add_argument(
        "--review", type=Path, metavar="FILE", help="a reviewer's verdict as JSON, which decides about the evidence"
    )
    parser.add_argument("--json", action="store_true", help='print {"schemaVersion", "artifacts", "blockers"}')


def run(args: argparse.Namespace) -> int:
    """Exit code 0, or 1 if a name blocks the task; with a review, if that comes out as coupled."""
    task = load(args.task)
    with opened(args.repo, task.definition.base_commit) as base:
        evidence = gather(task, base.holds)
    if args.review:
        resolution = resolve(evidence, _review(args.review))
        print(json.dumps(resolution) if args.json else f"{resolution['verdict']}: {resolution['reason']}")
        return int(resolution["verdict"] == "coupled")
    print(json.dumps(evidence.report) if args.json else _said(evidence))
    return int(bool(evidence.blockers))


def _review(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: {error}, expected a review as JSON") from error
    return value  # type: ignore[no-any-return]


def _said(evidence: Evidence) -> str:
    count = len(evidence.artifacts)
    return "\n".join(
        [*evidence.blockers, f"{count} names in hidden tests and solution, {len(evidence.blockers)} blockers"]
    )
