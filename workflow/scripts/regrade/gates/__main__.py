"""Stage `checks`: all gates over a set's tasks.

    python -m regrade.gates SPEC OUTPUT JOBS    SPEC is JSON: {"title", "tasks": folders, "sandbox"} (plan.checks_spec)

Writes the page and ends well whatever the findings: they are data.
"""

import json
import sys
from pathlib import Path
from typing import Any

from regrade import files
from regrade.errors import ending_in_one_line
from regrade.formats import artifact
from regrade.gates import report
from regrade.gates.run import both_gates, lints


def main(spec_text: str, output: str, jobs: str) -> None:
    """Run all gates for one specification, so many at once, and write the page."""
    spec: dict[str, Any] = json.loads(spec_text)
    tasks = [artifact.load(Path(folder)) for folder in spec["tasks"]]
    accepted, rejected = both_gates(tasks, int(jobs), spec["sandbox"])
    linted = list(lints((task.id, task.folder) for task in tasks))
    files.write_text(Path(output), report.page(spec["title"], accepted, rejected, linted))


if __name__ == "__main__":
    with ending_in_one_line("the report"):
        main(*sys.argv[1:])
