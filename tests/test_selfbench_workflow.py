"""What a user gets from one snakemake call on SelfBench tasks: gates, trials, grades, bundles, and what runs again."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chat_server import ChatServer
from harbor_support import GOLD, Calc
from project import REPOSITORY, Project

SUMMARY = "results/sb/summary.md"
SUMMARIES = {"set_records": 1, "set_summary": 1}
COLLECTION = "example-calc-58c7fb7f26f2"
TASK = f"results/tasks/selfbench/{COLLECTION}/calc-pr-7"
RUN = f"results/runs/{{}}/selfbench/{COLLECTION}"


LOOK = """\
printf '\\n\\ndef mul(a, b):\\n    return a * b\\n' >> /app/calc/ops.py
git config user.email a@b; git config user.name c; git commit -qam x
echo "(code" "ran) $(git log --format=%s | tail -1) $(git remote | wc -l) $(ls /app/.venv)"
"""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer([{"text": f"Done.\n```diff\n{GOLD}```\n"}]) as server:
        yield server


@pytest.fixture
def calc(tmp_path: Path) -> Calc:
    return Calc(tmp_path / "made")


@pytest.fixture
def project(make_project: Callable[..., Project], server: ChatServer, calc: Calc, tmp_path: Path) -> Project:
    """One task under oracle, nop and a model that answers with the solution."""
    arms = {
        "oracle": {"harness": "oracle"},
        "nop": {"harness": "nop"},
        "asked": {"harness": "single-shot", "model": "m"},
    }
    models = {"m": {"adapter": "openai-chat", "model": "served", "base_url": server.base_url, "stream": False}}
    project = make_project(arms, models, selfbench={"repositories": {"example/calc": str(calc.repo)}})
    add(project, calc)
    project.add_set("sb", "selfbench:*")
    return project


def add(project: Project, calc: Calc, name: str = "calc-pr-7", **fields: object) -> Path:
    """Add a task to a project; its folder."""
    target = project.folder / "problems/selfbench" / name
    shutil.copytree(calc.task(taskId=name, **fields).folder, target, dirs_exist_ok=True)
    return target


def edit(folder: Path, **fields: object) -> None:
    path = folder / "definition.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def outcomes(project: Project, name: str = "sb") -> dict[str, tuple[str, str | None]]:
    return {row["arm"]: (row["status"], row["reason"]) for row in project.records(name)}


@pytest.fixture
def done(project: Project) -> Project:
    project.snakemake(SUMMARY)
    return project


def test_what_a_run_leaves(done: Project, server: ChatServer) -> None:
    """The reference passes, nothing fails, a model's patch is graded; evidence lies beside; nothing is left to do."""
    expected = {"oracle": ("passed", None), "nop": ("failed", "empty_patch"), "asked": ("passed", None)}
    assert expected == outcomes(done)
    run = done.folder / RUN.format("asked")
    names = ["grade/calc-pr-7/rep-001.json", "patch/calc-pr-7/rep-001.diff", "task/calc-pr-7/rep-001.trial.json"]
    names += ["verify/calc-pr-7/rep-001.patch", "verify/calc-pr-7/rep-001.log", "raw/calc-pr-7.request.json"]
    assert [True] * len(names) == [(run / name).is_file() for name in names]
    assert not (run / "workspace/calc-pr-7/rep-001/.git").exists()
    record = done.records("sb")[0]
    assert ("selfbench", COLLECTION, "medium") == (record["format"], record["collection"], record["difficulty"])
    assert {} == done.planned(SUMMARY)
    assert 1 == server.count
    asked = json.loads((run / "raw/calc-pr-7.request.json").read_text())
    told = json.dumps(asked)
    assert ("Repository: /workspace" in told, "def add" in told, "test_mul" in told, str(done.folder) in told) == (
        True, True, False, False,
    )  # fmt: skip


def test_what_runs_again(done: Project, server: ChatServer) -> None:
    """An edit proves and grades that task again, and asks only for another prompt or set-up."""
    folder = done.folder / "problems/selfbench/calc-pr-7"
    add_other = add(done, Calc(done.folder / "other"), "calc-pr-8")
    shutil.rmtree(add_other)
    for path in folder.iterdir():
        path.touch()
    assert {} == done.planned(SUMMARY)
    graded = {"prove": 1, "selfbench_trial": 3, "grade_patch": 3, **SUMMARIES}
    edit(folder, passToPass=["tests/test_shape.py", "tests/test_ops.py"])
    assert graded == done.planned(SUMMARY)
    workspace = done.folder / RUN.format("asked") / "workspace/calc-pr-7/rep-001"
    made = workspace.stat().st_ctime_ns
    done.snakemake(SUMMARY)
    assert made == workspace.stat().st_ctime_ns, "no agent worked anew"
    assert {} == done.planned(SUMMARY)
    edit(folder, timeouts={"setupSeconds": 901, "agentSeconds": 2400, "testsSeconds": 60})
    assert {"snapshot": 1, **graded} == done.planned(SUMMARY)
    done.snakemake(SUMMARY)
    assert 1 == server.count, "the same question is answered by the store"
    edit(folder, prompt="Teach it more.")
    assert graded == done.planned(SUMMARY)
    done.snakemake(SUMMARY)
    assert (2, {}) == (server.count, done.planned(SUMMARY))


def test_a_task_that_fails_its_gates_is_not_run(project: Project, calc: Calc, server: ChatServer) -> None:
    """Under every arm, with the reason; other tasks are, and a task with a mended gate is."""
    bad = add(project, calc, "calc-pr-9", failToPass=["tests/test_ops.py"])
    project.snakemake(SUMMARY)
    rows = [row for row in project.records("sb") if row["task"] == "calc-pr-9"]
    assert [("not_run", "gate_failed")] * 3 == [(row["status"], row["reason"]) for row in rows]
    assert "the fail-to-pass tests pass without any work" in rows[0]["message"]
    assert 1 == server.count
    edit(bad, failToPass=["tests/test_mul.py"])
    project.snakemake(SUMMARY)
    rows = [row for row in project.records("sb") if row["task"] == "calc-pr-9"]
    assert {"passed", "failed"} == {row["status"] for row in rows}


def test_a_task_without_its_repository_is_an_error(project: Project) -> None:
    """The message names the key; naming it runs the task."""
    known = project.config["selfbench"]
    project.config["selfbench"] = {"setup_network": False}
    project.write_config()
    project.snakemake(SUMMARY)
    assert {("error", "inputs_error")} == set(outcomes(project).values())
    assert "selfbench.repositories in the configuration has no 'example/calc'" in project.records("sb")[0]["message"]
    project.config["selfbench"] = known
    project.write_config()
    project.snakemake(SUMMARY)
    assert ("passed", None) == outcomes(project)["oracle"]


def test_a_loop_works_where_it_was_set_up(project: Project, server: ChatServer) -> None:
    """A model that runs code finds one commit, the files of the set-up, and /app; its commits are collected."""
    server.script([{"when": "(code ran)", "text": "Done."}, {"text": f"```shell\n{LOOK}```"}])
    edit(project.folder / "problems/selfbench/calc-pr-7", setupCommand="mkdir .venv && touch .venv/here")
    project.config["arms"] = {"loop": {"harness": "code-only", "model": "m"}}
    project.write_config()
    project.snakemake(SUMMARY)
    assert ("failed", "tests_failed") == outcomes(project)["loop"]
    run = project.folder / RUN.format("loop")
    assert "def mul" in (run / "verify/calc-pr-7/rep-001.patch").read_text()
    assert "(code ran) base 0 here" in (run / "raw/calc-pr-7.rep-001.calls.jsonl").read_text()


def test_adopt_and_export(done: Project, tmp_path: Path) -> None:
    """Results without Snakemake's memory are taken over; a set's tasks are packed, and the file checks out."""
    shutil.rmtree(done.folder / ".snakemake")
    done.regrade("adopt", "results", "--snakefile", str(REPOSITORY / "Snakefile"))
    assert SUMMARIES == done.planned(SUMMARY)
    done.snakemake("results/harbor/calc-pr-7/task.toml")
    assert (done.folder / "results/harbor/calc-pr-7/solution/gold.patch").is_file()
    assert {} == done.planned("results/harbor/calc-pr-7/task.toml")
    out = str(tmp_path / "all.tar.gz")
    assert "exported 1 tasks" in done.regrade("export", "harbor", "sb", "--out", out).stdout
    assert "is what its manifest says" in done.regrade("export", "harbor", "--verify", out).stdout
    unknown = done.snakemake("results/harbor/calc-pr-6/task.toml", check=False)
    assert "has no task 'calc-pr-6'; did you mean 'calc-pr-7'?" in unknown.stdout


def test_all_formats_in_one_table(project: Project) -> None:
    """Tasks of four formats stand in one set under the same arms."""
    project.add_task("alpha")
    project.add_suite(
        "words", {"id": "w", "category": "words", "prompt": "Say yes.", "scoring": {"type": "exact", "value": "yes"}}
    )
    project.add_set("mixed", "algorithmic__alpha", "w", "selfbench:calc-pr-7")
    project.config["arms"] = {"nop": {"harness": "nop"}}
    project.write_config()
    project.snakemake("results/mixed/summary.md")
    assert ["artifact", "suite", "selfbench"] == [row["format"] for row in project.records("mixed")]


AGENT = """\
import json, os, subprocess, sys
given = json.load(open(sys.argv[-1]))
os.chdir(given["workspace"]["path"])
assert ("repo-task", True) == (given["case"]["kind"], "multiply" in given["case"]["prompt"])
assert ["base"] == subprocess.check_output(["git", "log", "--format=%s"], text=True).split()
open("calc/ops.py", "a").write("\\n\\ndef mul(a, b):\\n    return a * b\\n")
subprocess.check_call("git -c user.email=a@b -c user.name=c commit -qam work; git rm -rqf --cached calc", shell=True)
"""


def test_an_external_agent_works_in_the_repository(project: Project) -> None:
    """It is handed a repository of one commit; its work is collected whatever it did with git."""
    agent = project.write("agent.py", AGENT)
    project.config["arms"] = {
        "agent": {"harness": "external-agent", "command": ["python", str(agent)], "read": [str(agent)]}
    }
    project.write_config()
    project.snakemake(SUMMARY)
    assert ("failed", "tests_failed") == outcomes(project)["agent"]
    patch = (project.folder / RUN.format("agent") / "verify/calc-pr-7/rep-001.patch").read_text()
    assert ("+def mul(a, b):" in patch, "deleted file" in patch) == (True, False)
