"""docs/data_files.md explains every file that a run leaves, and every field in it."""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchpack_support import MANIFEST, make_pack, write_inline
from chat_server import ChatServer
from docs_support import README, fenced, page, rows
from harbor_support import GOLD, Calc, changes
from project import REPOSITORY, Project

CALL = {"language": "shell", "code": "mkdir -p output; echo 42 > output/answer.txt"}
FENCED = "```diff\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n```\n"
OLLAMA = {"response": "yes", "done_reason": "stop", "prompt_eval_count": 5, "prompt_eval_duration": 10**9}
ANSWERS = [
    {"when": '"prompt": "', "body": {**OLLAMA, "eval_count": 2, "eval_duration": 10**9}},
    {"when": "You judge answers", "text": "It does.\nGRADE: PASS"},
    {"when": "Mend it", "text": FENCED},
    {"when": "Say no", "status": 500, "body": "down"},
    {"when": "Say yes", "text": "yes"},
    {"when": "Mark it", "text": "SCORE: 0.9"},
    {"when": "Write run_tests", "text": '{"action": "final", "args": {"message": "done"}}'},
    {"when": "Print three", "text": "```python\nprint(3)\n```"},
    {"when": "exit code 0", "text": "It is written."},
    {
        "when": "execute_code",
        "finish_reason": "tool_calls",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "execute_code", "arguments": json.dumps(CALL)}}
        ],
    },
    {"text": "```output/answer.txt\n41\n```"},
]


CASES = """
[[cases]]
id = "judged"
prompt = "Say yes to a judge."
scoring = { mode = "llm-judge" }

[[cases]]
id = "typed"
prompt = "Say yes in JSON."
scoring = { mode = "json-schema", schema = "number.json" }

[[cases]]
id = "down"
prompt = "Say no."

[[cases]]
id = "agent"
kind = "repo-task"
prompt = "Say yes to an agent."
fixture_refs = ["r"]
harness = { id = "external-agent", timeout_s = 20 }
scoring = { mode = "verify-script", script = "verify/slow.py", timeout_s = 0.5 }
"""
SPEED = """\
[pack]
id = "speed"
version = "1"
description = "Twice, after a warmup"

[defaults]
stream = true
warmup = 1
repetitions = 2

[[cases]]
id = "ask"
prompt = "Say yes, and fast."
"""
SUITE = """\
version: 2
release: "2026-11"
tasks:
  - {id: "yes", category: words, prompt: Say yes., execution_surface: prompt, source_signal: own,
     contamination_risk: low, introduced: "2026-11-30", scoring: {type: exact, value: "yes"}}
  - {id: "no", category: words, prompt: Say no., scoring: {type: exact, value: "no"}}
  - {id: marked, category: words, prompt: Say yes to a judge., scoring: {type: llm_judge, criteria: Mark it}}
  - {id: drawn, category: words, prompt: Say yes four times.,
     scoring: {type: pass_at_k, k: 1, n: 2, inner_type: exact, value: "yes"}}
  - {id: coded, category: words, prompt: Print three., scoring: {type: code_exec, test_code: print("PASS")}}
  - {id: looped, category: words, prompt: Write run_tests until they pass., max_turns: 2,
     scoring: {type: agent_loop, repo_fixture: repository, test_command: [python, -m, pytest, -q], max_steps: 2,
               hidden_tests: [{path: test_a.py, content: "def test_a():\\n    assert False\\n"}]}}
  - {id: rows, category: words, dataset: {name: data/rows.jsonl}, template: "Say yes to {{ name }}.",
     scoring: {type: exact, answer_field: answer}}
  - {id: gone, category: words, dataset: {name: data/gone.jsonl}, template: "Say yes to {{ name }}.",
     scoring: {type: exact, answer_field: answer}}
"""
METADATA = {"runtime": {"name": "x"}, "model": {"file": "y"}, "operating_conditions": None, "notes": "z", "more": 1}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of a benchmark that meets as much as possible: errors, loops, prints, re-gradings, packs."""
    arms = {"asked": {"harness": "single-shot", "model": "m"}, "loop": {"harness": "code-only", "model": "m"}}
    with ChatServer(ANSWERS) as server:
        models = {
            "m": {"adapter": "openai-chat", "model": "m", "base_url": server.base_url, "request": {"temperature": 0}},
            "o": {"adapter": "ollama-generate", "model": "o", "base_url": server.base_url.removesuffix("/v1")},
        }
        project = Project(tmp_path_factory.mktemp("fields"), arms, models)
        _run_tasks(project)
        project.config["arms"] = {"asked": {"harness": "direct", "model": "m"}, "oracle": {"harness": "oracle"}}
        models["m"]["prices"] = {"input": 1, "output": 1}
        _run_suites(project)
        del models["m"]["prices"], project.config["budget"]
        project.config["arms"] = {"asked": arms["asked"], "native": {"harness": "single-shot", "model": "o"}}
        _run_packs(project)
        project.config["arms"] = {"loop": arms["loop"], "oracle": {"harness": "oracle"}}
        _run_selfbench(project)
    return project.folder / "results"


def _run_tasks(project: Project) -> None:
    run = "results/runs/loop/artifact/algorithmic/summary.md"
    grader = project.add_task("alpha") / "grader/hidden.py"
    grader.write_text(grader.read_text() + "\n\nimport sys\nprint('seen')\nprint('seen', file=sys.stderr)\n")
    broken = project.add_task("beta", category="enumeration", workspace_generator="workspace/generator.py")
    (broken / "workspace/generator.py").write_text("raise SystemExit(1)\n")
    project.add_set("tiny", "artifact:*")
    project.snakemake("results/tiny/records.csv")
    grader.write_text(grader.read_text().replace("wrong number", "another number"))
    project.snakemake("results/tiny/summary.md", "results/checks/tiny.md", run)
    assert {"asked": "failed", "loop": "passed"} == {
        row["arm"]: row["status"] for row in project.records("tiny") if row["task"] == "algorithmic__alpha"
    }


def _run_suites(project: Project) -> None:
    """A suite with whatever leaves files of its own, scored twice."""
    project.write("problems/suites/data/rows.jsonl", '{"name": "Ada", "answer": "yes"}\n')
    project.write("problems/suites/repository/a.py", "a = 1\n")
    file = project.write("problems/suites/words.yaml", SUITE)
    project.config |= {"judge": "m", "budget": {"usd": 5}}
    project.write_config()
    project.add_set("words", "suite:*")
    project.snakemake("results/words/records.csv")
    file.write_text(SUITE.replace('value: "no"', 'value: "none"'))
    project.snakemake("results/words/summary.md", "results/runs/asked/suite/words/summary.md")


def _run_selfbench(project: Project) -> None:
    """A task whose solution changes dependencies, in a set with one whose gates fail, and its bundle."""
    calc = Calc(project.folder / "made")
    more = changes(calc.repo, {"requirements.txt": "a\n"})
    for name, fields in (("calc-pr-7", {}), ("calc-pr-8", {"failToPass": ["tests/test_ops.py"]})):
        task = calc.task(gold=GOLD + more, taskId=name, setupCommand="echo set up", **fields)
        shutil.copytree(task.folder, project.folder / "problems/selfbench" / name)
    project.config["selfbench"] = {"repositories": {"example/calc": str(calc.repo)}}
    project.write_config()
    project.add_set("mended", "selfbench:*")
    project.snakemake("results/mended/summary.md", "results/harbor/calc-pr-7/task.toml")


def _run_packs(project: Project) -> None:
    """Two packs under a chat server and under one that speaks Ollama's protocol."""
    packs = project.folder / "benchpacks"
    slow = "import time\ntime.sleep(30)\n"
    manifest = MANIFEST.format(pack="demo") + CASES
    make_pack(packs, files={"benchpack.toml": manifest, "verify/slow.py": slow, "number.json": '{"type": "number"}'})
    write_inline(packs / "speed", {"benchpack.toml": SPEED})
    project.write("metadata.json", json.dumps(METADATA))
    project.config |= {"judge": "m", "run_metadata": "metadata.json", "host_label": "big-box"}
    project.write_config()
    project.add_set("packs", "demo", "speed")
    agent = json.dumps(["python", str(REPOSITORY / "examples/external-agent/reference-agent.py")])
    runs = [
        f"results/runs/{arm}/benchpack/{pack}/summary.md" for arm in ("asked", "native") for pack in ("demo", "speed")
    ]
    project.snakemake("results/packs/records.csv", *runs, BENCHPACK_EXTERNAL_AGENT_ARGV=agent)
    found = {row["task"]: (row["status"], row["reason"]) for row in project.records("packs") if row["arm"] == "asked"}
    assert {
        "demo/ask": ("passed", None),
        "demo/mend": ("passed", None),
        "demo/judged": ("passed", None),
        "demo/typed": ("failed", "invalid_format"),
        "demo/down": ("error", "provider_error"),
        "demo/agent": ("failed", "tests_failed"),
        "speed/ask": ("unscored", "no_scoring"),
    } == found


def sections() -> dict[str, list[str]]:
    """Documented fields by the pattern of the files that have them."""
    found: dict[str, list[str]] = {}
    for part in re.split(r"^### ", page("docs/data_files.md"), flags=re.M)[1:]:
        heading, _, text = part.partition("\n")
        for pattern in re.findall(r"`([^`]+)`", heading):
            found[pattern] = [cells[0] for cells in rows(text)]
    return found


def section_of(path: str) -> list[str] | None:
    """The documented fields of the section that names a file; where several do, of the one that says most."""
    found = {}
    for pattern, fields in sections().items():
        form = re.escape(pattern).replace("NNN", "[0-9]{3,}")
        form = re.sub(r"<[a-z]+>", "[^/]+", form) + (".+" if pattern.endswith("/") else "")
        if re.fullmatch(form, path):
            found[len(re.sub(r"<[a-z]+>", "", pattern))] = fields
    return found[max(found)] if found else None


def test_every_file_below_results_is_documented(results: Path) -> None:
    """Each file that a run leaves belongs to a section of docs/data_files.md."""
    paths = [str(path.relative_to(results)) for path in results.rglob("*") if path.is_file()]
    kinds = ("errors.jsonl", "calls.jsonl", "transcript.jsonl", "history.jsonl", "hardware.json", "stderr.log")
    kinds += ("measured.errors.jsonl", "context.json", "model-calls.jsonl", "warmup-001.request.json", "metadata.json")
    assert [] == [kind for kind in kinds if not any(path.endswith(kind) for path in paths)]
    assert [] == [path for path in paths if section_of(path) is None]


def observed(value: Any, prefix: str = "") -> Iterator[str]:
    """The dotted names of all that a JSON value holds; `[]` for the objects of a list."""
    if isinstance(value, dict) and value:
        for key, child in value.items():
            yield from observed(child, f"{prefix}.{key}".lstrip("."))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            yield from observed(item, f"{prefix}[]")
    else:
        yield prefix


def is_documented(name: str, fields: list[str]) -> bool:
    forms = [re.sub(r"<[a-z]+>", ".+", re.escape(field)).replace(r"\.\*", r"((\.|\[\]).*)?") for field in fields]
    if fields == ["*"]:
        return True
    above = any(field.startswith((f"{name}.", f"{name}[]")) for field in fields)
    return above or any(re.fullmatch(form, name) for form in forms)


def values_of(path: Path) -> list[Any]:
    if path.suffix == ".csv":
        with path.open() as stream:
            return [dict.fromkeys(row, "") for row in csv.DictReader(stream)]
    text = path.read_text()
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else [json.loads(text)]


def data_files(results: Path) -> Iterator[tuple[str, list[str]]]:
    """(path, names of fields) of every file that has fields."""
    for path in results.rglob("*"):
        name = str(path.relative_to(results))
        if path.suffix in (".json", ".jsonl", ".csv") and "/workspace/" not in name:
            yield name, sorted({field for value in values_of(path) for field in observed(value)})


def test_the_summary_in_the_readme_looks_like_a_summary(results: Path) -> None:
    """Its heading and the sentence below it are those that a summary has."""
    shown = next(block for block in fenced(README) if "## Arms" in block).splitlines()
    summary = (results / "tiny/summary.md").read_text().splitlines()
    parts = [line for line in shown if line.startswith(("| arm ", "| ---", "Pass rate"))]
    assert 3 == len(parts)
    assert [] == [line for line in parts if line not in summary]


def test_every_field_is_documented(results: Path) -> None:
    """Each field of each file stands in the table of its section."""
    missing = {
        f"{path}: {field}"
        for path, fields in data_files(results)
        for field in fields
        if not is_documented(field, section_of(path) or [])
    }
    assert set() == missing


KINDS = {
    "inputs.json": "tasks/<format>/<collection>/<case>/inputs.json",
    ".trial.json": "runs/<arm>/<format>/<collection>/task/<case>/rep-NNN.trial.json",
    "grade": "runs/<arm>/<format>/<collection>/grade/<case>/rep-NNN.json",
    "records.jsonl": "<set>/records.jsonl",
    "hardware.json": "runs/<arm>/<format>/<collection>/hardware.json",
    "measured.jsonl": "runs/<arm>/benchpack/<collection>/task/<case>/measured.jsonl",
    "journal.jsonl": "runs/<arm>/benchpack/<collection>/task/<case>/measured.journal.jsonl",
    ".outcome.json": "runs/<arm>/benchpack/<collection>/verify/<case>/rep-NNN.outcome.json",
    "pack run": "runs/<arm>/benchpack/<collection>/run.jsonl",
}
ELSEWHERE = re.compile(r"gpus\[\]|chip|hardware_model|collector_error")
"""Fields that only other machines have."""


def kind_of(path: str) -> str | None:
    if "/grade/" in path and path.endswith(".json"):
        return "grade"
    if "/benchpack/" in path and path.endswith("/run.jsonl"):
        return "pack run"
    return next((end for end in KINDS if path.endswith(end)), None)


def test_no_field_is_documented_that_is_not_there(results: Path) -> None:
    """What the page says of inputs, trials, measured cases, verdicts, grades and rows is in a file of that kind."""
    seen: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for path, fields in data_files(results):
        if kind := kind_of(path):
            seen[kind] += fields
    for kind, pattern in KINDS.items():
        stale = [
            field
            for field in sections()[pattern]
            if not any(is_documented(name, [field]) or name.startswith(f"{field}.") for name in seen[kind])
            and not any(name.startswith(f"{field}[]") for name in seen[kind])
            and not (kind == "hardware.json" and ELSEWHERE.match(field))
        ]
        assert [] == stale, kind
