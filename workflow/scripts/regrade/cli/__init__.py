"""The `regrade` command: one module a sub-command, imported only when asked for."""

import argparse
import importlib
import sys

from regrade import __version__
from regrade.errors import RegradeError

COMMANDS = {
    "check": "look for faults in tasks, packs and sets",
    "materialize": "write a task's inputs into a folder",
    "grade": "grade a workspace",
    "score": "score answers by scoring tables",
    "graders": "try graders on good and on wrong artifacts",
    "patch": "apply the patch of an answer, or show what changed in a folder",
    "compare": "put results side by side: medians of packs, pairs of records",
    "parse-action": "read the action of an agent loop's turn",
    "threshold": "hold the mean score of records against a bound",
    "report": "say what pack runs were and how they came out",
    "audit": "hold a SelfBench task against the rules of its difficulty",
    "expand": "show the commands that a SelfBench task's tests are run by",
    "gates": "prove a SelfBench task: nothing must fail its tests, its solution pass them",
    "coupling": "look for names that only a SelfBench task's solution says",
    "submit": "hand in a SelfBench task",
    "repair": "check what a repair changed in a SelfBench task",
    "compile": "compile a SelfBench task to a Harbor bundle, or refresh one",
    "export": "pack a set's Harbor bundles into one file, or verify one",
    "import": "read the results of Harbor's jobs as records",
    "adopt": "take over results that came without Snakemake's metadata",
    "new": "write the skeleton of a task or a pack",
    "doctor": "say what this machine can and cannot do",
}

_MODULES = {"import": "import_"}
"""Modules that are not called as their command: `import` is a keyword."""


def main(arguments: list[str] | None = None) -> int:
    """Run one sub-command. Exit codes: 0 fine, 1 findings or refused, 2 misuse or a folder without any task."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="regrade",
        description="Commands beside the workflow, for authors and readers; benchmarks are run with snakemake.",
        epilog="\n".join(f"  {name:12} {text}" for name, text in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"regrade {__version__}")
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    command = parser.parse_args(words[:1]).command
    module = importlib.import_module(f"regrade.cli.{_MODULES.get(command, command.replace('-', '_'))}")
    parser = argparse.ArgumentParser(prog=f"regrade {command}", description=module.__doc__)
    module.add_arguments(parser)
    try:
        return int(module.run(parser.parse_args(words[1:])))
    except RegradeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 1
