"""The documentation says what is there: commands run, links lead somewhere, nothing is left out."""

import csv
import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from chat_server import ChatServer
from project import REPOSITORY, Project
from regrade import config, schemas, yaml_file
from regrade.cli import COMMANDS
from regrade.harnesses import code_only, single_shot
from regrade.models.types import ModelConfig
from regrade.statuses import STATUSES, TABLE

README = (REPOSITORY / "README.md").read_text()
PAGES = [REPOSITORY / "README.md", *(REPOSITORY / name for name in ("AGENTS.md", "CHANGELOG.md", "config/README.md"))]
PAGES += sorted((REPOSITORY / "docs").glob("*.md"))


def fenced(text: str, language: str = "") -> list[str]:
    """The fenced blocks of a page in one language."""
    return [content for info, content in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M) if info == language]


def rows(text: str) -> list[list[str]]:
    """The cells of every table row whose first cell starts with code, without that cell's marks."""
    found = [line.strip().strip("|").split(" | ") for line in text.splitlines() if line.strip().startswith("| `")]
    return [[re.findall(r"`([^`]+)`", cells[0])[0], *(cell.strip() for cell in cells[1:])] for cells in found]


def commands(program: str) -> list[str]:
    return [line for block in fenced(README) for line in block.splitlines() if line.startswith(f"{program} ")]


# Commands


def test_the_two_commands_stand_at_the_top_of_a_short_readme() -> None:
    """make run and make test are within the first 30 lines, and the page has at most 150."""
    top = README.splitlines()[:30]
    assert ["make run", "make test"] == [line for line in top if line.startswith("make ")]
    assert len(README.splitlines()) <= 150


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has what the repository has, but no results."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("config", "problems", "sets", "Snakefile", "workflow", "profiles", "Makefile"):
        (folder / name).symlink_to(REPOSITORY / name)
    return folder


@pytest.mark.parametrize("command", commands("snakemake"))
def test_snakemake_commands_of_the_readme_can_be_planned(command: str, clone: Path) -> None:
    """Each target is one that the default configuration can make."""
    project = Project.__new__(Project)
    project.folder = clone
    assert project.snakemake("--dry-run", *shlex.split(command)[1:]).stdout


def test_there_are_snakemake_commands() -> None:
    """The test above tries several, among them the main one."""
    assert "snakemake --cores 8 results/seed-v1/summary.md" in commands("snakemake")


MAKE_TARGETS = sorted({name for page in PAGES for name in re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(), re.M)})


@pytest.mark.parametrize("target", MAKE_TARGETS)
def test_make_targets_that_are_named_exist(target: str) -> None:
    """make -n knows each of them."""
    done = subprocess.run(["make", "-n", target], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)


def test_every_regrade_command_stands_in_the_readme() -> None:
    """And none that there is not."""
    assert set(COMMANDS) == set(re.findall(r"`regrade ([a-z]+)", README))


# Snippets


def test_the_snippets_for_an_endpoint_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry in models.yaml and one line below arms: a model behind a server is asked, and its answer passes."""
    models, arm = (yaml.safe_load(block) for block in fenced(README, "yaml")[:2])
    assert "below `arms:`" in README
    with ChatServer([{"text": "```output/answer.txt\n42\n```"}]) as server:
        models["my-model"]["base_url"] = server.base_url
        monkeypatch.setenv(models["my-model"]["api_key_env"], "key-of-the-readme")
        project = Project(tmp_path, arm, models)
        project.add_task("alpha", answer="42")
        project.add_set("tiny", "algorithmic__alpha")
        project.snakemake("results/tiny/summary.md")
        asked = server.requests[0]
    record = project.records("tiny")[0]
    assert ("mine", "passed", "Qwen/Qwen3-8B") == (record["arm"], record["status"], asked["body"]["model"])
    assert "Bearer key-of-the-readme" == asked["headers"]["Authorization"]
    assert record["cost_usd"] == pytest.approx((10 * 0.15 + 2 * 0.60) / 1e6)


def test_the_snippet_for_tasks_elsewhere_works(tmp_path: Path) -> None:
    """With `dirs` as in the README, tasks and sets of another folder are run."""
    snippet = fenced(README, "yaml")[2].replace("/path/to", str(tmp_path / "elsewhere"))
    other = Project(tmp_path / "other", {"oracle": {"harness": "oracle"}})
    other.add_task("alpha")
    other.add_set("theirs", "artifact:*")
    (tmp_path / "elsewhere").mkdir()
    (other.folder / "problems/artifact").rename(tmp_path / "elsewhere/tasks")
    (other.folder / "sets").rename(tmp_path / "elsewhere/sets")
    project = Project(tmp_path / "project", {"oracle": {"harness": "oracle"}}, **yaml.safe_load(snippet))
    project.snakemake("results/theirs/summary.md")
    assert ["passed"] == [row["status"] for row in project.records("theirs")]


GRADE_BY_EXAMPLE = """
from swebench.artifact_models import GradeResult


def grade(scratch_dir):
    wrong = wrong_answers()
    return GradeResult(not wrong, float(not wrong), str(wrong))
"""


def test_the_grader_with_agent_code_in_the_docs_works(make_project: Callable[..., Project]) -> None:
    """The example of add_a_task.md calls the agent's function and tells right from wrong."""
    page = (REPOSITORY / "docs/add_a_task.md").read_text()
    example = next(block for block in fenced(page, "python") if "regrade_agent" in block)
    project = make_project()
    task = project.add_task("alpha", output_artifact="output/glob_match.py")
    (task / "grader/hidden.py").write_text(example + GRADE_BY_EXAMPLE)
    verdicts = []
    for answer in ("pattern == 'a*'", "True", "int('x')"):
        project.write("work/output/glob_match.py", f"def glob_match(pattern, path):\n    return {answer}\n")
        verdicts.append(json.loads(project.regrade("grade", str(task), "work").stdout)["detail"])
    assert ["0", "1", "2"] == verdicts


def test_the_grader_that_reads_an_artifact_in_the_docs_works(make_project: Callable[..., Project]) -> None:
    """The example of add_a_task.md tells right from wrong, and garbage is a failure."""
    page = (REPOSITORY / "docs/add_a_task.md").read_text()
    project = make_project()
    fields = {"output_artifact": "output/answer.json", "reference_output": "grader/reference_output.json"}
    project.write("problems/artifact/algorithmic/alpha/grader/reference_output.json", "42\n")
    task = project.add_task("alpha", **fields)
    example = next(block for block in fenced(page, "python") if "import ArtifactFault" in block)
    (task / "grader/hidden.py").write_text(example)
    verdicts = []
    for content in ("42", "41", "true", "{"):
        project.write("work/output/answer.json", content)
        verdict = json.loads(project.regrade("grade", str(task), "work").stdout)
        verdicts.append(verdict["reason"] or verdict["status"])
    assert ["passed", "wrong_answer", "wrong_answer", "invalid_format"] == verdicts


# Configuration


def keys(schema: dict[str, Any], prefix: str, named: str) -> Iterator[str]:
    """Every key that a value may have; `named` stands for names of the user's choice."""
    children = {prefix + name: child for name, child in schema.get("properties", {}).items()}
    if isinstance(schema.get("additionalProperties"), dict):
        children[prefix + named] = schema["additionalProperties"]
    for key, child in children.items():
        inner = list(keys(child, f"{key}.", named))
        yield from inner or [key]


def all_keys() -> set[str]:
    found = set(keys(schemas.schema("config"), "", "<arm>")) | set(keys(schemas.schema("models"), "", "<model>"))
    return {key for key in found if not key.startswith("arms.") or key.count(".") > 1} | {"arms"}


def config_page() -> str:
    return (REPOSITORY / "config/README.md").read_text()


def test_every_configuration_key_is_documented() -> None:
    """The tables of config/README.md hold the keys of both schemas and no other."""
    assert all_keys() == {cells[0] for cells in rows(config_page())}


def test_the_examples_of_the_configuration_are_valid_and_have_every_key(tmp_path: Path) -> None:
    """Both example files load, and together they show every key."""
    settings, models = fenced(config_page(), "yaml")
    (tmp_path / "models.yaml").write_text(models)
    (tmp_path / "config.yaml").write_text(settings.replace("config/models.yaml", str(tmp_path / "models.yaml")))
    loaded = config.load_file(tmp_path / "config.yaml")
    shown = set(leaves(yaml_file.load(tmp_path / "config.yaml"), "arms", "<arm>"))
    shown |= set(leaves(yaml_file.load(tmp_path / "models.yaml"), "", "<model>"))
    assert [] == [key for key in all_keys() - {"arms"} if not any(f"{path}.".startswith(f"{key}.") for path in shown)]
    for name, entry in loaded.models.items():
        ModelConfig.from_config(name, {key: value for key, value in entry.items() if key != "max_concurrency"})


def leaves(value: Any, free: str, named: str, prefix: str = "") -> Iterator[str]:
    """The dotted keys of a configuration; below `free` stand names of the user's choice."""
    if not isinstance(value, dict):
        yield prefix
        return
    for key, child in value.items():
        name = named if prefix == free else key
        yield from leaves(child, free, named, f"{prefix}.{name}".lstrip("."))


def test_defaults_in_the_documentation_are_those_of_the_code() -> None:
    """Numbers in the column of defaults equal the code's."""
    default = {cells[0]: cells[1] for cells in rows(config_page())}
    assert {f"limits.{name}": f"{value:g}" for name, value in config.LIMITS.items()} == {
        key: value for key, value in default.items() if key.startswith("limits.")
    }
    model = {name: value for name, value in vars(ModelConfig("", "")).items() if name.endswith(("_s", "retries"))}
    assert {name: f"{value:g}" for name, value in model.items()} == {name: default[f"<model>.{name}"] for name in model}
    plain = config.Config({})
    assert {
        "repetitions": str(plain.repetitions),
        "error_retries": str(plain.error_retries),
        "arms.<arm>.files_chars": str(single_shot.FILES_CHARS),
        "arms.<arm>.max_steps": str(code_only.MAX_STEPS),
    }.items() <= default.items()


# Statuses


def test_every_status_and_reason_is_documented() -> None:
    """docs/statuses.md has the table of the code: reason, status and who is to blame."""
    found = rows((REPOSITORY / "docs/statuses.md").read_text())
    assert set(STATUSES) <= {cells[0] for cells in found}
    reasons = {cells[0]: (cells[1], cells[2]) for cells in found if cells[0] in TABLE}
    assert {name: (reason.status, reason.blame) for name, reason in TABLE.items()} == reasons


# Files and fields

CALL = {"language": "shell", "code": "mkdir -p output; echo 42 > output/answer.txt"}
ANSWERS = [
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


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results folder of a benchmark that meets as much as possible: errors, loops, prints, a re-grading."""
    arms = {"asked": {"harness": "single-shot", "model": "m"}, "loop": {"harness": "code-only", "model": "m"}}
    run = "results/runs/loop/artifact/algorithmic/summary.md"
    with ChatServer(ANSWERS) as server:
        model = {"adapter": "openai-chat", "model": "m", "base_url": server.base_url, "request": {"temperature": 0}}
        project = Project(tmp_path_factory.mktemp("fields"), arms, {"m": model})
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
    return project.folder / "results"


def sections() -> dict[str, list[str]]:
    """Documented fields by the pattern of the files that have them."""
    page = (REPOSITORY / "docs/data_files.md").read_text()
    found: dict[str, list[str]] = {}
    for part in re.split(r"^### ", page, flags=re.M)[1:]:
        heading, _, text = part.partition("\n")
        for pattern in re.findall(r"`([^`]+)`", heading):
            found[pattern] = [cells[0] for cells in rows(text)]
    return found


def section_of(path: str) -> list[str] | None:
    """The documented fields of the section that names a file."""
    for pattern, fields in sections().items():
        form = re.escape(pattern).replace("NNN", "[0-9]{3,}")
        form = re.sub(r"<[a-z]+>", "[^/]+", form) + (".+" if pattern.endswith("/") else "")
        if re.fullmatch(form, path):
            return fields
    return None


def test_every_file_below_results_is_documented(results: Path) -> None:
    """Each file that a run leaves belongs to a section of docs/data_files.md."""
    paths = [str(path.relative_to(results)) for path in results.rglob("*") if path.is_file()]
    kinds = ("errors.jsonl", "calls.jsonl", "transcript.jsonl", "history.jsonl", "hardware.json", "stderr.log")
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


def test_no_field_is_documented_that_is_not_there(results: Path) -> None:
    """What the page says of inputs, trials, grades and records can be found in a file of that kind."""
    seen: dict[str, list[str]] = {}
    for path, fields in data_files(results):
        kind = next((end for end in ("inputs.json", ".trial.json", "records.jsonl") if path.endswith(end)), None)
        kind = "grade" if "/grade/" in path and path.endswith(".json") else kind
        if kind:
            seen[kind] = [*seen.get(kind, []), *fields]
    patterns = {
        "inputs.json": "tasks/artifact/<collection>/<case>/inputs.json",
        ".trial.json": "runs/<arm>/artifact/<collection>/task/<case>/rep-NNN.trial.json",
        "grade": "runs/<arm>/artifact/<collection>/grade/<case>/rep-NNN.json",
        "records.jsonl": "<set>/records.jsonl",
    }
    for kind, pattern in patterns.items():
        stale = [
            field
            for field in sections()[pattern]
            if not any(is_documented(name, [field]) or name.startswith(f"{field}.") for name in seen[kind])
            and not any(name.startswith(f"{field}[]") for name in seen[kind])
        ]
        assert [] == stale, kind


# Links


def anchors(page: Path) -> set[str]:
    """What a page's headings are called in links, as GitHub makes it of them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    """Relative links and their anchors exist."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert [] == broken


def test_the_module_map_names_every_module() -> None:
    """Each file and folder of the library stands in docs/architecture.md."""
    page = (REPOSITORY / "docs/architecture.md").read_text().partition("## Module map")[2]
    library = REPOSITORY / "workflow/scripts/regrade"
    found = {path.name for path in library.glob("*.py")} | {
        f"{path.name}/" for path in library.iterdir() if path.is_dir()
    }
    named = {name for cell in re.findall(r"`([\w/.]+)`", page) for name in (cell, f"{cell.split('/')[0]}/")}
    assert set() == found - named - {"__init__.py", "__pycache__/"}
