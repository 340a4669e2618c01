"""The smallest external agent: checks what it was handed, leaves a marker in the workspace, logs one model call.

It asks no model. The words that it needs are appended by Regrade (docs/external_agents.md).
"""

import argparse
import json
import sys
from pathlib import Path

MARKER = "reference-agent.txt"


def main() -> int:
    """0, or 1 with a line on stderr if the context is not what it should be."""
    given = arguments()
    context = json.loads(given.context.read_text(encoding="utf-8"))
    faults = check(context, given)
    if faults:
        print("reference-agent: " + "; ".join(faults), file=sys.stderr)
        return 1
    pack, case = context["pack"]["id"], context["case"]["id"]
    marker = f"{pack}/{case}, repetition {given.repetition}\n"
    (given.workspace / MARKER).write_text(marker, encoding="utf-8")
    call = {"schema_version": 1, "sequence": 1, "model": context["adapter"]["model"] or "none", "ok": True}
    with open(context["run"]["model_call_log_path"], "a", encoding="utf-8") as log:
        log.write(json.dumps(call) + "\n")
    print(f"reference-agent: wrote {MARKER}")
    return 0


def arguments() -> argparse.Namespace:
    """The appended words."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--case", required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--repetition", type=int, required=True)
    parser.add_argument("--context", type=Path, required=True)
    return parser.parse_args()


def check(context: dict, given: argparse.Namespace) -> list[str]:
    """What in the context differs from the appended words, or is missing."""
    told = {
        "version": (context.get("version"), 1),
        "case.id": (context["case"]["id"], given.case),
        "workspace.path": (context["workspace"]["path"], str(given.workspace)),
        "run.output_dir": (context["run"]["output_dir"], str(given.output_dir)),
        "run.repetition": (context["run"]["repetition"], given.repetition),
    }
    faults = [
        f"{name} is {found!r}, expected {expected!r}" for name, (found, expected) in told.items() if found != expected
    ]
    if not context["case"]["prompt"]:
        faults.append("case.prompt is empty")
    if not given.workspace.is_dir():
        faults.append(f"{given.workspace} is no folder")
    return faults


if __name__ == "__main__":
    sys.exit(main())
