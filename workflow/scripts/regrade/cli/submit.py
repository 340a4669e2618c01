"""Hand in a SelfBench task: it is checked and written to $SELFBENCH_TASK_OUTPUT/<taskId>/, once."""

import argparse
import os
import sys
from pathlib import Path

from regrade.errors import RegradeError, UsageError
from regrade.formats.selfbench.fields import DIFFICULTIES
from regrade.formats.selfbench.submit import OUTPUT, Assignment, check_single, examine, secrets, submit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("--definition", type=Path, metavar="FILE", help="the definition.json")
    parser.add_argument("--test-patch", type=Path, metavar="FILE", help="the hidden tests as a Git patch")
    parser.add_argument("--gold-patch", type=Path, metavar="FILE", help="the solution as a Git patch")
    parser.add_argument("--expect-pr", type=int, metavar="N", help="the pull request that was assigned")
    parser.add_argument("--expect-commit", metavar="SHA", help="the base commit that was assigned")
    parser.add_argument("--expect-difficulty", choices=DIFFICULTIES, help="the difficulty that was assigned")


def run(args: argparse.Namespace) -> int:
    """Exit code 0, or 1 for a task that is refused, and when more than one task lies there afterwards."""
    root = os.environ.get(OUTPUT)
    if not root:
        raise RegradeError(f"{OUTPUT} is not configured")
    contents = [_content(path) for path in (args.definition, args.test_patch, args.gold_patch)]
    task = examine(str(args.definition), *contents)
    folder = submit(task, Path(root), Assignment(args.expect_pr, args.expect_commit, args.expect_difficulty))
    for warning in (*task.warnings, *secrets(task)):
        print(warning, file=sys.stderr)
    print(f"Submitted {folder.name}.", flush=True)
    check_single(Path(root))
    return 0


def _content(path: Path | None) -> bytes | None:
    """A file's bytes; None if none is named."""
    try:
        return path.read_bytes() if path else None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}, expected a file") from error
