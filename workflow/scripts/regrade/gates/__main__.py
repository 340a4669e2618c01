"""Stage `checks`: all gates over a set's tasks.

    python -m regrade.gates SPEC OUTPUT JOBS    SPEC is JSON (plan.artifact.checks_spec):

    title, tasks (folders), sandbox, categories (the accepted ones), limits (of graders, as the configuration has them)

Writes the page and ends well whatever the findings: they are data.
"""

import sys
from pathlib import Path
from typing import Any

from regrade import files, specification
from regrade.errors import ending_in_one_line
from regrade.formats import artifact
from regrade.gates import report
from regrade.gates.run import both_gates, lints
from regrade.graders import GraderLimits


def main(spec_text: str, output: str, jobs: str) -> None:
    """Run all gates for one specification, so many at once, and write the page."""
    spec: dict[str, Any] = specification.read(spec_text)
    tasks = [artifact.load(Path(folder), spec["categories"]) for folder in spec["tasks"]]
    given = spec["limits"]
    limits = GraderLimits(given["grader_wall_s"], given["grader_memory_mb"], given["artifact_mb"])
    accepted, rejected = both_gates(tasks, int(jobs), spec["sandbox"], limits)
    linted = list(lints((task.id, task.folder) for task in tasks))
    files.write_text(Path(output), report.page(spec["title"], accepted, rejected, linted))


if __name__ == "__main__":
    with ending_in_one_line("the report"):
        main(*sys.argv[1:])
