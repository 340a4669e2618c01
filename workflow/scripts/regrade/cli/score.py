"""Score answers by scoring tables: JSON lines on stdin, JSON lines on stdout, one for each in the same order.

in:   {"id", "scoring", "output", "schema"?: the schema object in place of its file, "prompt"?: for a judge}
out:  {"id", "scoring": as in run.jsonl, null where nothing is scored}, or {"id", "error"} for a faulty table
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from regrade import yaml_file
from regrade.errors import FaultsError, RegradeError, UsageError
from regrade.judge import Judge
from regrade.models import entries
from regrade.models.types import ModelConfig
from regrade.nearest import nearest
from regrade.scorers import benchpack as scorers
from regrade.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--format", required=True, choices=("benchpack",), help="whose scoring tables they are")
    parser.add_argument("--judge", metavar="MODEL", help="who judges where a table of mode llm-judge names nobody")
    parser.add_argument(
        "--models", type=Path, default=Path("config/models.yaml"), help="the models file (default: %(default)s)"
    )


def run(args: argparse.Namespace) -> int:
    """Exit code 0 whatever the verdicts and faults of tables, 1 if a line is no such object."""
    judges = Judges(args.models, args.judge)
    unreadable = False
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            asked = _asked(line)
        except ValueError as error:
            unreadable = True
            answer: dict[str, Any] = {"id": None, "error": f"line {number}: {error}"}
        else:
            answer = {"id": asked["id"], **_answer(asked, judges)}
        print(json.dumps(answer), flush=True)
    return int(unreadable)


def _asked(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    missing = [key for key in ("id", "scoring", "output") if not isinstance(value, dict) or key not in value]
    if missing:
        raise ValueError(f"has no {', '.join(missing)}, expected an object with id, scoring and output")
    return dict(value)


def _answer(asked: dict[str, Any], judges: "Judges") -> dict[str, Any]:
    output, prompt = asked["output"], asked.get("prompt", "")
    try:
        if not isinstance(output, str) or not isinstance(prompt, str):
            raise UsageError(f"output is {output!r:.100}, prompt {prompt!r:.100}, expected strings")
        judge = judges.of(asked["scoring"])
        return {"scoring": scorers.score(asked["scoring"], output, asked.get("schema"), judge, prompt)}
    except RegradeError as error:
        return {"error": str(error)}


class Judges:
    """The judges that tables ask for; the models file is read when the first one does."""

    def __init__(self, models: Path, usual: str | None) -> None:
        self._path = models
        self._usual = usual

    def of(self, scoring: Any) -> Judge | None:
        """Who judges by a table, None if that is nobody. Raises RegradeError for a model that is not to be had."""
        if not isinstance(scoring, dict) or scoring.get("mode") != "llm-judge":
            return None
        name = scoring.get("judge", self._usual)
        if name is None:
            return None
        models = yaml_file.load(self._path) or {}
        faults = entries.faults(models, str(self._path))
        if faults:
            raise FaultsError(faults)
        if name not in models:
            raise RegradeError(f"{self._path}: has no model {name!r}{nearest(str(name), models)}")
        return Judge(ModelConfig.from_config(name, models[name]), Store(None, "off"))
