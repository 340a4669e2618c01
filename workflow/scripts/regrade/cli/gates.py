"""Prove a SelfBench task: doing nothing must fail its tests, the reference solution must pass them, twice."""

import argparse
import json
import tempfile
from pathlib import Path

from regrade import files
from regrade.config import Config
from regrade.formats.selfbench.load import load
from regrade.held_out import prove, snapshot
from regrade.held_out.prepared import Prepared


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument("task", type=Path, metavar="TASK_DIR", help="the folder with definition.json and two patches")
    parser.add_argument(
        "--repo", type=Path, required=True, metavar="PATH", help="a clone or bundle with its base commit"
    )
    parser.add_argument("--no-network", action="store_true", help="run the set-up command without the network")
    parser.add_argument("--json", action="store_true", help='print {"nop", "oracle", "accepted", "reason", ...}')


def run(args: argparse.Namespace) -> int:
    """Exit code 0 if the task may be used, else 1."""
    task = load(args.task)
    with tempfile.TemporaryDirectory(prefix="regrade-gates-") as folder:
        prepared = Prepared(Path(folder) / "task")
        spec = {
            "id": task.definition.task_id,
            "task": str(args.task),
            "repository": str(args.repo),
            "network": not args.no_network,
            "output": str(prepared.folder / "inputs.json"),
            "folder": str(prepared.folder),
            "errors": str(prepared.folder / "errors.jsonl"),
            "digest": "",
            "attempt": 0,
        }
        config = json.dumps(Config({}).to_value())
        snapshot.main(json.dumps(spec), config)
        prove.main(json.dumps(spec), config)
        found = files.read_json(prepared.gates)
    shown = {name: found[name] for name in ("nop", "oracle", "audit", "coupling") if name in found}
    answer = {**shown, "accepted": found["accepted"], "reason": found["message"] or None}
    said = "accepted" if found["accepted"] else f"{found['reason']}: {found['message']}"
    print(json.dumps(answer) if args.json else said)
    return 0 if found["accepted"] else 1
