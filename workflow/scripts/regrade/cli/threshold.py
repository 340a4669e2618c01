"""Hold a mean score against a bound, for CI: exit code 0 if it is reached, else 1.

The mean is taken over the headline trials that were tried, of every arm that asks a model (of all arms if none does);
an error counts as 0. Trials that were not run or are not scored are left out, and told.
"""

import argparse
import contextlib
import sys
from pathlib import Path
from typing import Any

from regrade.config import ASKS_NOBODY
from regrade.errors import UsageError
from regrade.statistics import mean
from regrade.suites import records_file
from regrade.suites.headline import counted, headline, is_headline


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("records", type=Path, metavar="RECORDS", help="records.jsonl, run.jsonl, or their folder")
    parser.add_argument("--at-least", type=_share, required=True, metavar="SCORE", help="from 0 to 1")
    parser.add_argument("--arm", action="append", metavar="NAME", help="only this arm; may be given again")


def _share(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= (value := float(text)) <= 1:
            return value
    raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 0 to 1")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 if the mean reaches the bound, 1 if not or if nothing was tried."""
    rows = _of_arms(records_file.load(args.records), args.arm)
    counting = headline(rows)
    scores = [score for row in counting if (score := counted(row)) is not None]
    score, left_out = mean(scores), len(counting) - len(scores)
    print(_said(rows, counting, score, args.at_least, left_out))
    if score is None:
        print(f"{args.records}: nothing was tried, expected at least one trial with a score", file=sys.stderr)
    return int(score is None or score < args.at_least)


def _of_arms(rows: list[dict[str, Any]], names: list[str] | None) -> list[dict[str, Any]]:
    known = list(dict.fromkeys(row["arm"] for row in rows))
    for name in names or ():
        if name not in known:
            raise UsageError(f"--arm {name}: expected one of {', '.join(known)}")
    asked = [row for row in rows if row.get("harness") not in ASKS_NOBODY]
    return [row for row in rows if row["arm"] in names] if names else asked or rows


def _said(
    rows: list[dict[str, Any]], counting: list[dict[str, Any]], score: float | None, bound: float, left_out: int
) -> str:
    shown = "unknown" if score is None else f"{score:.4f}"
    verdict = "reached" if score is not None and score >= bound else "not reached"
    outside = "" if any(map(is_headline, rows)) else "; none is a headline trial, so all count"
    missing = f"; {left_out} not run or not scored, left out" if left_out else ""
    arms = ", ".join(dict.fromkeys(row["arm"] for row in rows))
    return f"mean score {shown} of {len(counting)} trials ({arms}), bound {bound:g} {verdict}{outside}{missing}"
