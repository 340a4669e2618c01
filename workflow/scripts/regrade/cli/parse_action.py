"""Read the action of an agent loop's turn: JSON lines on stdin, JSON lines on stdout.

in:   {"id", "response": the turn's text}
out:  {"id", "action": {"tool", "args"}, null for a turn that is none}
"""

import argparse
import json
import sys

from regrade.harnesses.loop.actions import Action, parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line, which has no options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def run(args: argparse.Namespace) -> int:
    """Exit code 0, or 1 if a line is no such object."""
    unreadable = False
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            asked = json.loads(line)
            identifier, response = asked["id"], asked["response"]
            if not isinstance(response, str):
                raise TypeError(f"response is {response!r:.80}, expected a text")
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            unreadable = True
            print(json.dumps({"id": None, "error": f"line {number}: {error}, expected an object with id and response"}))
            continue
        action = parse(response)
        value = {"tool": action.tool, "args": action.args} if isinstance(action, Action) else None
        print(json.dumps({"id": identifier, "action": value}), flush=True)
    return int(unreadable)
