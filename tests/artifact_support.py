"""A tiny artifact task, whole and sound, for tests to break."""

from pathlib import Path

MANIFEST = """\
instance_id: {category}__{slug}
category: {category}
difficulty: easy
problem_statement: prompt.md
workspace_dir: workspace/
output_artifact: output/answer.txt
hidden_grader: grader/hidden.py
reference_output: grader/reference_output.txt
execution_budget:
  max_code_runs: 0
  max_wall_seconds: 0
"""

GRADER = """\
class Verdict:
    def __init__(self, passed):
        self.passed, self.score, self.detail = passed, float(passed), "compared"


def grade(scratch_dir):
    return Verdict((scratch_dir / "output/answer.txt").read_bytes() == b"the answer is 4711\\n")
"""

FILES = {
    "prompt.md": "Write the answer into output/answer.txt.\n",
    "workspace/data.csv": "a,b\n1,2\n",
    "grader/hidden.py": GRADER,
    "grader/reference_output.txt": "the answer is 4711\n",
}


def write_files(folder: Path, files: dict[str, str | bytes]) -> None:
    """Write files by name below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def make_task(
    tasks_dir: Path, identifier: str = "algorithmic__demo", files: dict[str, str | bytes] | None = None, extra: str = ""
) -> Path:
    """Write a sound task and return its folder; `files` are added or replaced, `extra` goes behind the manifest."""
    category, slug = identifier.split("__", 1)
    folder = tasks_dir / category / slug
    manifest = MANIFEST.format(category=category, slug=slug) + extra
    write_files(folder, {**FILES, "task.yaml": manifest, **(files or {})})
    return folder


def make_generator_task(
    tasks_dir: Path, code: str, identifier: str = "algorithmic__demo", **files: str | bytes
) -> Path:
    """A task with a generator that runs `code` with `args` parsed and `out` as the output folder."""
    generator = (
        "import argparse, json, os, sys, time\n"
        "from pathlib import Path\n"
        "parser = argparse.ArgumentParser()\n"
        "for name in ('--seed', '--output-dir', '--instance-id'): parser.add_argument(name, required=True)\n"
        "args = parser.parse_args()\n"
        "out = Path(args.output_dir)\n"
    )
    content = {"workspace/generator.py": generator + code, **files}
    return make_task(tasks_dir, identifier, content, "workspace_generator: workspace/generator.py\n")


def edit(folder: Path, old: str, new: str) -> None:
    """Replace a piece of a task's manifest, which must be there."""
    path = folder / "task.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
