"""Read the action of an agent loop's turn: JSON lines on stdin, JSON lines on stdout.

in:   {"id", "response": the turn's text}
out:  {"id", "action": {"tool", "args"}, or null for a turn that asks for none}; {"id", "error"} for a faulty line
"""

import argparse
import json
import sys
from typing import Any

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
        answer = _answer(line, number)
        unreadable = unreadable or "error" in answer
        print(json.dumps(answer), flush=True)
    return int(unreadable)


def _answer(line: bytes, number: int) -> dict[str, Any]:
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": f"line {number}: is no JSON: {error}"}
    said = asked if isinstance(asked, dict) else {}
    if "id" not in said or not isinstance(said.get("response"), str):
        found = f"line {number}: expected an object with id and response, a text; found {asked!r:.100}"
        return {"id": said.get("id"), "error": found}
    action = parse(said["response"])
    value = {"tool": action.tool, "args": action.args} if isinstance(action, Action) else None
    return {"id": said["id"], "action": value}
