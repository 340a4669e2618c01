"""The documentation says what is there: commands run, links lead somewhere, nothing is left out.

The files that runs leave are in test_docs_files.py.
"""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from chat_server import ChatServer
from docs_support import PAGES, README, fenced, leaves, page, rows, schema_keys
from project import REPOSITORY, Project
from regrade import config, model_calls, schemas, yaml_file
from regrade.cli import COMMANDS
from regrade.harnesses import code_only, single_shot
from regrade.models.types import ModelConfig
from regrade.statuses import STATUSES, TABLE


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
    for name in ("config", "problems", "benchpacks", "sets", "Snakefile", "workflow", "profiles", "Makefile"):
        (folder / name).symlink_to(REPOSITORY / name)
    return folder


@pytest.mark.parametrize("command", commands("snakemake"))
def test_snakemake_commands_of_the_readme_can_be_planned(command: str, clone: Path) -> None:
    """Each target is one that the default configuration can make."""
    project = Project.__new__(Project)
    project.folder = clone
    assert project.snakemake("--dry-run", *shlex.split(command)[1:]).stdout


def test_there_are_snakemake_commands() -> None:
    """The test above tries several, among them the main one and one pack."""
    found = commands("snakemake")
    assert "snakemake --cores 8 results/seed-v1/summary.md" in found
    assert "snakemake --cores 2 results/runs/smollm2/benchpack/smoke-chat/summary.md" in found


NAMED = re.compile(r"(?:`|^)make ([a-z-]+)", re.M)
MAKE_TARGETS = sorted({name for path in PAGES for name in NAMED.findall(path.read_text())})


@pytest.mark.parametrize("target", MAKE_TARGETS)
def test_make_targets_that_are_named_exist(target: str) -> None:
    """make -n knows each of them."""
    done = subprocess.run(["make", "-n", target], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)


def test_every_regrade_command_stands_in_the_readme() -> None:
    """And none that there is not."""
    assert set(COMMANDS) == set(re.findall(r"`regrade ([a-z-]+)", README))


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
    example = next(block for block in fenced(page("docs/add_a_task.md"), "python") if "regrade_agent" in block)
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
    project = make_project()
    fields = {"output_artifact": "output/answer.json", "reference_output": "grader/reference_output.json"}
    project.write("problems/artifact/algorithmic/alpha/grader/reference_output.json", "42\n")
    task = project.add_task("alpha", **fields)
    example = next(block for block in fenced(page("docs/add_a_task.md"), "python") if "import ArtifactFault" in block)
    (task / "grader/hidden.py").write_text(example)
    verdicts = []
    for content in ("42", "41", "true", "{"):
        project.write("work/output/answer.json", content)
        verdict = json.loads(project.regrade("grade", str(task), "work").stdout)
        verdicts.append(verdict["reason"] or verdict["status"])
    assert ["passed", "wrong_answer", "wrong_answer", "invalid_format"] == verdicts


# Configuration


def all_keys() -> set[str]:
    found = set(schema_keys(schemas.schema("config"), "", "<arm>"))
    found |= set(schema_keys(schemas.schema("models"), "", "<model>"))
    found = {key.replace("repositories.<arm>", "repositories.<repo>") for key in found}
    return {key for key in found if not key.startswith("arms.") or key.count(".") > 1} | {"arms"}


CONFIG_PAGE = page("config/README.md")


def test_every_configuration_key_is_documented() -> None:
    """The tables of config/README.md hold the keys of both schemas and no other."""
    assert all_keys() == {cells[0] for cells in rows(CONFIG_PAGE)}


def test_the_examples_of_the_configuration_are_valid_and_have_every_key(tmp_path: Path) -> None:
    """Both example files load, and together they show every key."""
    settings, models = fenced(CONFIG_PAGE, "yaml")
    (tmp_path / "models.yaml").write_text(models)
    (tmp_path / "run-metadata.json").write_text("{}")
    settings = settings.replace("/home/me/run-metadata.json", str(tmp_path / "run-metadata.json"))
    (tmp_path / "config.yaml").write_text(settings.replace("config/models.yaml", str(tmp_path / "models.yaml")))
    loaded = config.load_file(tmp_path / "config.yaml")
    shown = set(leaves(yaml_file.load(tmp_path / "config.yaml"), "arms", "<arm>"))
    shown |= set(leaves(yaml_file.load(tmp_path / "models.yaml"), "", "<model>"))
    shown = {path.replace("repositories.owner/name", "repositories.<repo>") for path in shown}
    assert [] == [key for key in all_keys() - {"arms"} if not any(f"{path}.".startswith(f"{key}.") for path in shown)]
    for name, entry in loaded.models.items():
        ModelConfig.from_config(name, {key: value for key, value in entry.items() if key != "max_concurrency"})


def test_defaults_in_the_documentation_are_those_of_the_code() -> None:
    """Numbers in the column of defaults equal the code's."""
    default = {cells[0]: cells[1] for cells in rows(CONFIG_PAGE)}
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
    found = rows(page("docs/statuses.md"))
    assert set(STATUSES) <= {cells[0] for cells in found}
    reasons = {cells[0]: (cells[1], cells[2]) for cells in found if cells[0] in TABLE}
    assert {name: (reason.status, reason.blame) for name, reason in TABLE.items()} == reasons


# Packs


def test_every_key_of_a_pack_s_manifest_is_documented() -> None:
    """docs/add_a_pack.md has the keys of the schema and no other, those of a scoring table once."""
    schema = schemas.schema("benchpack")
    found = set(schema_keys(schema, "", "")) - {"scoring"}
    found |= {f"scoring.{key}" for key in schema["$defs"]["scoring"]["properties"]}
    table = page("docs/add_a_pack.md").partition("## benchpack.toml")[2].partition("## ")[0]
    assert found == {cells[0] for cells in rows(table)}


def test_a_new_pack_goes_the_way_of_the_page(make_project: Callable[..., Project]) -> None:
    """The commands at the top of add_a_pack.md: check finds no fault, oracle passes all and nop nothing."""
    project = make_project()
    block = fenced(page("docs/add_a_pack.md"))[0]
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if words:
            {"regrade": project.regrade, "snakemake": project.snakemake}[words[0]](*words[1:])
    found = {}
    for arm in ("oracle", "nop"):
        lines = (project.folder / f"results/runs/{arm}/benchpack/my-pack/run.jsonl").read_text().splitlines()
        found[arm] = {json.loads(line)["regrade"]["status"] for line in lines}
    assert {"oracle": {"passed"}, "nop": {"failed"}} == found


def test_the_scoring_example_of_the_docs_works(make_project: Callable[..., Project]) -> None:
    """`regrade score` answers the shown line with the shown line."""
    asked, answered = fenced(page("docs/add_a_pack.md"), "json")[:2]
    project = make_project()
    project.write("asked.jsonl", asked)
    command = shlex.join([sys.executable, "-m", "regrade.cli", "score", "--format", "benchpack"])
    assert answered == project.call(["sh", "-c", f"{command} < asked.jsonl"], True, {}).stdout


def test_every_field_of_a_model_call_is_documented() -> None:
    """docs/external_agents.md names the fields that count, and no other."""
    table = page("docs/external_agents.md").partition("## Logging model calls")[2].partition("\n\nTexts have")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    assert model_calls.ALLOWED == {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


# Links


def anchors(path: Path) -> set[str]:
    """What a page's headings are called in links, as GitHub makes it of them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_to_files_and_headings(path: Path) -> None:
    """Relative links and their anchors exist."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert [] == broken


def test_the_module_map_names_every_module() -> None:
    """Each file and folder of the library stands in docs/architecture.md."""
    map_ = page("docs/architecture.md").partition("## Module map")[2]
    library = REPOSITORY / "workflow/scripts/regrade"
    found = {path.name for path in library.glob("*.py")} | {
        f"{path.name}/" for path in library.iterdir() if path.is_dir()
    }
    named = {name for cell in re.findall(r"`([\w/.]+)`", map_) for name in (cell, f"{cell.split('/')[0]}/")}
    assert set() == found - named - {"__init__.py", "__pycache__/"}
