"""Read what others ran as records: `regrade import harbor JOBS_DIR`. Prints JSON, a record a line.

JOBS_DIR is one of Harbor's jobs or a folder of them. Trials that cannot be read are named and left out.
"""

import argparse
import sys
from pathlib import Path

from regrade import files
from regrade.harbor.jobs import read_jobs
from regrade.harbor.records import records


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("kind", choices=("harbor",), metavar="harbor", help="whose results they are")
    parser.add_argument("jobs", type=Path, metavar="JOBS_DIR", help="a job's folder, or one with jobs in it")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the records there (default: print them)")


def run(args: argparse.Namespace) -> int:
    """Exit code 0, 1 if a trial cannot be read, 2 for a folder without any."""
    found = read_jobs(args.jobs)
    rows = list(records(found.trials))
    if args.out:
        files.write_jsonl(args.out, rows)
        print(f"wrote {len(rows)} records to {args.out}")
    else:
        for row in rows:
            print(files.to_json(row))
    for message in found.broken:
        print(message, file=sys.stderr)
    return 1 if found.broken else 0
