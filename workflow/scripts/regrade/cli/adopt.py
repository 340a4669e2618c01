"""Take over results that came without Snakemake's metadata; asks no model.

Run it where you would run snakemake. Kept is what was made from what the plan names; the rest and every summary is
removed, and the next snakemake call makes it again.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from regrade import adopt, config
from regrade.errors import UsageError
from regrade.plan import Plan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The results folder, and how snakemake is called there."""
    parser.add_argument("results", nargs="?", type=Path, metavar="RESULTS", help="default: the configuration's")
    parser.add_argument("--configfile", type=Path, default=Path("config/config.yaml"))
    parser.add_argument("--snakefile", type=Path, help="the workflow, if it does not lie here")


def run(arguments: argparse.Namespace) -> int:
    """Sort the folder out and say in one line what was kept and what was removed."""
    if not arguments.configfile.is_file():
        raise UsageError(f"{arguments.configfile}: no such file, expected the configuration: --configfile names it")
    settings = config.load_file(arguments.configfile)
    if arguments.results:
        settings = replace(settings, dirs={**settings.dirs, "results": str(arguments.results)})
    if not settings.folder("results").is_dir():
        raise UsageError(f"{settings.folder('results')}: no such folder, expected results")
    snakefile = ["--snakefile", str(arguments.snakefile)] if arguments.snakefile else []
    extra = [*snakefile, "--configfile", str(arguments.configfile)]
    found = adopt.adopt(
        Plan(settings), [*extra, "--config", f"dirs={json.dumps({'results': settings.dirs['results']})}"]
    )
    for path in found.removed:
        print(f"removed {path}", file=sys.stderr)
    for message in found.left_alone:
        print(f"left alone: {message}", file=sys.stderr)
    print(f"kept {len(found.kept)} files, removed {len(found.removed)}")
    return 0
