"""What proving a SelfBench task of 200 files costs beside its own commands: CPU and wall seconds, medians of three.

    python benchmarks/gates.py

The task's test command is a single shell test, so that nearly all of it is Regrade's own and the sandbox's.
"""

import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from harbor_support import CALC, Calc
from regrade.config import Config
from regrade.held_out import prove, snapshot
from regrade.held_out.grading import grade
from regrade.held_out.prepared import Prepared

FILES = 200


def cost(work: Callable[[], object]) -> tuple[float, float]:
    """CPU seconds, children included, and seconds by the clock."""
    found = []
    for _ in range(3):
        before, begin = _cpu_s(), time.perf_counter()
        work()
        found.append((_cpu_s() - before, time.perf_counter() - begin))
    return statistics.median(cpu for cpu, _ in found), statistics.median(wall for _, wall in found)


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main() -> None:
    """Print a table."""
    CALC.update({f"calc/m{number:03d}/part.py": "x = 1\n" * 50 for number in range(FILES - len(CALC))})
    with tempfile.TemporaryDirectory(prefix="regrade-gates-") as folder:
        calc = Calc(Path(folder))
        task = calc.task(testCommand="test -e calc/cli.py && : {tests}", passToPass=[], difficulty="easy")
        output = Path(folder) / "prepared" / "inputs.json"
        spec = {"id": "x", "task": str(task.folder), "repository": str(calc.repo), "network": False}
        spec |= {"output": str(output), "errors": str(output.with_name("errors")), "digest": "", "attempt": 0}
        told, prepared = (json.dumps(spec), json.dumps(Config({}).to_value())), Prepared(output.parent)
        rows = {
            "snapshot: unpack, set up, list": cost(lambda: snapshot.main(*told)),
            "nop": cost(lambda: grade(task, b"", prepared, "bubblewrap", reported=False)),
            "reference solution, tests twice": cost(
                lambda: grade(task, task.gold_patch, prepared, "bubblewrap", reported=False)
            ),
            "all gates: audit, both, coupling": cost(lambda: prove.proof_of(task, calc.repo, prepared, "bubblewrap")),
        }
    print(f"| {FILES} files | CPU s | wall s |\n| --- | --- | --- |")
    for name, (cpu_s, wall_s) in rows.items():
        print(f"| {name} | {cpu_s:.2f} | {wall_s:.2f} |")


if __name__ == "__main__":
    main()
