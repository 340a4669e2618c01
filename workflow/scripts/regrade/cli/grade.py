"""Grade a workspace with a task's grader. Prints one JSON object: passed, score, detail, status, reason, message.

The task's inputs are made anew for it, so changed inputs in the workspace change nothing.
"""

import argparse
import json
from pathlib import Path

from regrade.errors import UsageError
from regrade.formats import artifact
from regrade.formats.artifact.task import MANIFEST
from regrade.gates.bench import bench
from regrade.graders import GraderLimits
from regrade.graders.grading import USUAL_LIMITS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("task", type=Path, metavar="TASK_DIR", help="the folder with the task.yaml")
    parser.add_argument("workspace", type=Path, metavar="WORKSPACE", help="the folder with the output artifact in it")
    parser.add_argument(
        "--seconds", type=float, default=USUAL_LIMITS.wall_s, help="the grader's limit (default: %(default)s)"
    )
    parser.add_argument("--sandbox", choices=("bubblewrap", "none"), default="bubblewrap", help="what to run it in")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 whatever the verdict, 1 if there is none, 2 if there is no task or no workspace."""
    if not (args.task / MANIFEST).exists():
        raise UsageError(f"{args.task}: holds no {MANIFEST}, expected a task's folder")
    if not args.workspace.is_dir():
        raise UsageError(f"{args.workspace}: is no folder, expected the workspace to grade")
    with bench(artifact.load(args.task), args.sandbox, GraderLimits(wall_s=args.seconds)) as made:
        verdict = made.grade_folder(args.workspace)
    names = ("passed", "score", "detail", "status", "reason", "message", "traceback", "in_process")
    print(json.dumps({name: getattr(verdict, name) for name in names}))
    return 1 if verdict.status == "error" else 0
