"""A tiny benchmark in a folder of its own, run by the real Snakemake."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[1]

GRADER = """\
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class GradeResult:
    passed: bool
    score: float
    detail: str


def grade(scratch_dir: Path) -> GradeResult:
    artifact = scratch_dir / "output" / "answer.txt"
    if not artifact.exists():
        return GradeResult(False, 0.0, "output artifact not produced")
    right = artifact.read_bytes().strip() == b"{answer}"
    return GradeResult(right, float(right), "right" if right else "wrong number")
"""


class Project:
    """Config, tasks and sets below `folder`; `snakemake` and `regrade` run there."""

    def __init__(self, folder: Path, arms: dict[str, Any], models: dict[str, Any] | None = None, **config: Any) -> None:
        self.folder = folder
        self.config: dict[str, Any] = {"arms": arms, **config}
        self.models = models or {}
        self.write("sets/.keep", "")
        self.write_config()

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def write_config(self) -> None:
        """Write both configuration files as `config` and `models` say now."""
        self.write("config/config.yaml", yaml.safe_dump(self.config, sort_keys=False))
        self.write("config/models.yaml", yaml.safe_dump(self.models, sort_keys=False))

    def add_task(self, slug: str, answer: str = "42", category: str = "algorithmic", **fields: Any) -> Path:
        """Add a task that wants `answer` in output/answer.txt; its folder."""
        name = f"problems/artifact/{category}/{slug}"
        manifest = {
            "instance_id": f"{category}__{slug}",
            "category": category,
            "difficulty": "easy",
            "problem_statement": "prompt.md",
            "workspace_dir": "workspace/",
            "output_artifact": "output/answer.txt",
            "hidden_grader": "grader/hidden.py",
            "reference_output": "grader/reference_output.txt",
            "execution_budget": {"max_code_runs": 0, "max_wall_seconds": 0},
            **fields,
        }
        self.write(f"{name}/task.yaml", yaml.safe_dump(manifest, sort_keys=False))
        self.write(f"{name}/prompt.md", f"Write the answer to {slug} into output/answer.txt.\n")
        self.write(f"{name}/workspace/input.txt", f"input of {slug}\n")
        self.write(f"{name}/grader/hidden.py", GRADER.replace("{answer}", answer))
        self.write(f"{name}/grader/reference_output.txt", f"{answer}\n")
        return self.folder / name

    def add_suite(self, name: str, *tasks: dict[str, Any], **more: Any) -> Path:
        """Write problems/suites/<name>.yaml; a task that says no category has the file's name for one."""
        listed = [{"category": name, **task} for task in tasks]
        return self.write(f"problems/suites/{name}.yaml", yaml.safe_dump({**more, "tasks": listed}, sort_keys=False))

    def add_references(self, name: str, references: dict[str, Any]) -> Path:
        """Write the reference answers of a suite's file."""
        return self.write(f"problems/suites/oracle/{name}.yaml", yaml.safe_dump(references, sort_keys=False))

    def add_set(self, name: str, *lines: str) -> None:
        """Write sets/<name>.txt."""
        self.write(f"sets/{name}.txt", "".join(f"{line}\n" for line in lines))

    def snakemake(self, *arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Snakemake with this repository's workflow; the output of both streams is in `stdout`."""
        return self.call([*self.command(), *arguments], check, environment)

    def command(self) -> list[str]:
        """The start of every Snakemake command line here."""
        return [sys.executable, "-m", "snakemake", "--snakefile", str(REPOSITORY / "Snakefile"), "--cores", "2"]

    def regrade(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the `regrade` command."""
        return self.call([sys.executable, "-m", "regrade.cli", *arguments], check, {})

    def call(self, words: list[str], check: bool, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a command in the project's folder."""
        done = subprocess.run(
            words, cwd=self.folder, env={**os.environ, **environment}, text=True, errors="replace", timeout=300,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if check and done.returncode:
            raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}")
        return done

    def planned(self, *targets: str) -> dict[str, int]:
        """Jobs that Snakemake would run, by rule, from its own list."""
        output = self.snakemake("--dry-run", *targets).stdout
        table = re.search(r"^Job stats:\njob +count\n[- ]+\n(.*?)\ntotal", output, re.S | re.M)
        if table is None:
            return {}
        rows = (line.split() for line in table[1].splitlines())
        return {row[0]: int(row[1]) for row in rows if len(row) == 2}

    def records(self, name: str) -> list[dict[str, Any]]:
        """The rows of results/<set>/records.jsonl."""
        text = (self.folder / "results" / name / "records.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def trial(self, arm: str, slug: str, kind: str, category: str = "algorithmic", rep: int = 1) -> Path:
        """A file of one trial: kind is `grade`, `trial`, `patch` or `workspace`."""
        run = self.folder / "results" / "runs" / arm / "artifact" / category
        name = f"rep-{rep:03d}"
        return {
            "grade": run / "grade" / slug / f"{name}.json",
            "trial": run / "task" / slug / f"{name}.trial.json",
            "patch": run / "patch" / slug / f"{name}.diff",
            "workspace": run / "workspace" / slug / name,
        }[kind]
