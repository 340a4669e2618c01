"""Score answers: JSON lines on stdin, JSON lines on stdout, one for each in the same order.

--format benchpack
in:   {"id", "scoring", "output", "schema"?: the schema object in place of its file, "prompt"?: for a judge}
out:  {"id", "scoring": as in run.jsonl, null where nothing is scored}, or {"id", "error"} for a faulty table

--format suite
in:   {"id", "task": as in a file, with its "scoring", "response"} and where needed "responses" and "errors" (pass_at_k;
      place of a sample -> why its call failed), "turns" and "fixture_files" (agent_loop, repo_patch; path -> text, at
      {fixture}), "top_logprobs" (pairs), "judge_reply", "judge_enabled", "allow_code_exec", "error" (of the call)
out:  {"id", "score": null without a verdict, "passed", "status", "reason", "detail"}
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from regrade.cli.scoring import packs, suites


class Scorer(Protocol):
    """Scores the lines of one format."""

    REQUIRED: tuple[str, ...]

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What is said of one line, without its id."""


SCORERS: dict[str, Callable[[Path, str | None], Scorer]] = {"benchpack": packs.Scorer, "suite": suites.Scorer}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--format", required=True, choices=SCORERS, help="whose scoring tables they are")
    parser.add_argument("--judge", metavar="MODEL", help="who judges where a table asks for a judge and names nobody")
    parser.add_argument(
        "--models", type=Path, default=Path("config/models.yaml"), help="the models file (default: %(default)s)"
    )


def run(args: argparse.Namespace) -> int:
    """Exit code 0 whatever the verdicts and faults of tables, 1 if a line is no such object."""
    scorer: Scorer = SCORERS[args.format](args.models, args.judge)
    unreadable = False
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            asked = _asked(line, scorer.REQUIRED)
        except ValueError as error:
            unreadable = True
            answer: dict[str, Any] = {"id": None, "error": f"line {number}: {error}"}
        else:
            answer = {"id": asked["id"], **scorer.answer(asked)}
        print(json.dumps(answer), flush=True)
    return int(unreadable)


def _asked(line: bytes, required: tuple[str, ...]) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    missing = [key for key in required if not isinstance(value, dict) or key not in value]
    if missing:
        raise ValueError(f"has no {', '.join(missing)}, expected an object with {', '.join(required)}")
    return dict(value)
