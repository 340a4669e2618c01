"""What a user gets from one snakemake call on a small folder."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from project import Project

Make = Callable[..., Project]


@pytest.fixture
def tiny(make_project: Make) -> Project:
    project = make_project()
    project.add_task("alpha", answer="42")
    project.add_task("beta", answer="7", category="enumeration", difficulty="hard", tags=["a", "b"])
    project.add_set("tiny", "algorithmic__alpha", "enumeration__beta")
    return project


def test_a_set_becomes_records_a_table_and_a_summary(tiny: Project) -> None:
    """oracle passes all, nop fails all for want of an artifact, and nothing is left to do."""
    tiny.snakemake("results/tiny/summary.md", "results/tiny/records.csv")
    rows = tiny.records("tiny")
    assert [("oracle", "passed"), ("oracle", "passed"), ("nop", "failed"), ("nop", "failed")] == [
        (row["arm"], row["status"]) for row in rows
    ]
    assert {"missing_artifact"} == {row["reason"] for row in rows if row["arm"] == "nop"}
    summary = (tiny.folder / "results/tiny/summary.md").read_text()
    assert "| oracle | - | oracle | 2 | 2 | 0 | 0 | 0 | 0 | 100.0% | 34.2% to 100.0% | 100.0% | 1.000 |" in summary
    assert "| nop | - | nop | 2 | 0 | 2 | 0 | 0 | 0 | 0.0% | 0.0% to 65.8% | 0.0% | 0.000 |" in summary
    table = list(csv.DictReader((tiny.folder / "results/tiny/records.csv").read_text().splitlines()))
    assert ["hard", '["a", "b"]', "true"] == [table[1][name] for name in ("difficulty", "tags", "passed")]
    assert {} == tiny.planned("results/tiny/summary.md", "results/tiny/records.csv")


def test_a_run_directory_covers_the_whole_collection(tiny: Project) -> None:
    """run.jsonl, hardware.json and summary.md of one arm are targets of their own."""
    folder = "results/runs/oracle/artifact/algorithmic"
    tiny.snakemake(f"{folder}/summary.md", f"{folder}/hardware.json")
    rows = [json.loads(line) for line in (tiny.folder / folder / "run.jsonl").read_text().splitlines()]
    assert [("algorithmic__alpha", 1.0)] == [(row["task"], row["score"]) for row in rows]
    assert os.cpu_count() == json.loads((tiny.folder / folder / "hardware.json").read_text())["cpu_count"]
    assert not (tiny.folder / "results/runs/nop").exists()


def test_a_trial_leaves_its_patch_and_links_to_the_pristine_inputs(tiny: Project) -> None:
    """The patch shows the new artifact; an unchanged input is the pristine file itself."""
    tiny.snakemake(str(tiny.trial("oracle", "alpha", "grade").relative_to(tiny.folder)))
    patch = tiny.trial("oracle", "alpha", "patch").read_text()
    assert "+++ b/output/answer.txt\n@@ -0,0 +1 @@\n+42\n" in patch
    pristine = tiny.folder / "results/tasks/artifact/algorithmic/alpha/workspace/input.txt"
    assert pristine.samefile(tiny.trial("oracle", "alpha", "workspace") / "input.txt")
    assert 0o444 == pristine.stat().st_mode & 0o777


def test_a_faulty_task_stops_only_targets_that_need_it(tiny: Project) -> None:
    """A set with a broken manifest ends with a line for each fault and no traceback; another set goes on."""
    broken = tiny.add_task("gamma", difficulty="heroic")
    tiny.add_set("all", "artifact:*")
    done = tiny.snakemake("results/all/summary.md", check=False)
    assert 1 == done.returncode
    assert f"{broken.relative_to(tiny.folder)}/task.yaml: difficulty: " in done.stdout
    assert "Traceback" not in done.stdout
    tiny.snakemake("results/tiny/summary.md")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"repetitons": 3}, "config/config.yaml: repetitons: unknown key; did you mean 'repetitions'?"),
        ({"limits": {"grader_wall": 1}}, "config/config.yaml: limits.grader_wall: unknown key"),
        ({"arms": {"x": {"harness": "single-shot", "model": "smolm"}}}, "arms.x.model: is 'smolm', expected a model"),
        ({"arms": {"x": {"harness": "single-shot"}}}, "config/config.yaml: arms.x: has no model, expected one"),
        ({"arms": {"a": {"harness": "nop"}, "A": {"harness": "nop"}}}, "arms.A: differs from 'a' only by case"),
        ({"repetitions": True}, "config/config.yaml: repetitions: is True"),
    ],
)
def test_a_fault_in_the_configuration_is_one_clear_line(tiny: Project, change: dict[str, object], told: str) -> None:
    """A misspelt key, an unknown model and the like stop before anything runs, with file, key and value."""
    tiny.config |= change
    tiny.models = {"smollm": {"adapter": "openai-chat", "model": "m", "base_url": "http://127.0.0.1:9"}}
    tiny.write_config()
    done = tiny.snakemake("results/tiny/summary.md", check=False)
    assert 1 == done.returncode
    assert told in done.stdout
    assert "Traceback" not in done.stdout
    assert not (tiny.folder / "results").exists()


def test_a_key_that_stands_twice_in_the_configuration_is_found(tiny: Project) -> None:
    """Snakemake's own reader takes the last of two equal keys; Regrade refuses both."""
    tiny.write("config/config.yaml", "arms: {nop: {harness: nop}}\nrepetitions: 1\nrepetitions: 2\n")
    done = tiny.snakemake("results/tiny/summary.md", check=False)
    assert "config/config.yaml: line 3: duplicate key 'repetitions'" in done.stdout


def test_unknown_sets_and_tasks_are_named_with_the_nearest(tiny: Project) -> None:
    """A misspelt set, and a misspelt id in a set, name what exists."""
    tiny.add_set("typo", "algorithmic__alpa")
    assert "typo.txt" in (output := tiny.snakemake("results/typo/summary.md", check=False).stdout)
    assert "algorithmic__alpha" in output
    assert "tiny" in tiny.snakemake("results/tinny/summary.md", check=False).stdout


def test_list_explains_each_public_target() -> None:
    """snakemake --list prints what every target is for."""
    project = Project.__new__(Project)
    project.folder = Path(__file__).parents[1]
    output = project.snakemake("--list").stdout
    for target in ("results/<set>/summary.md", "records.jsonl", "results/checks/<set>.md", "run.jsonl"):
        assert target in output


def test_repetitions_are_trials_of_their_own(tiny: Project) -> None:
    """Three repetitions leave three records a task, and the interval counts tasks, not repetitions."""
    tiny.config["repetitions"] = 3
    tiny.write_config()
    tiny.snakemake("results/tiny/summary.md")
    assert [1, 2, 3] == [row["repetition"] for row in tiny.records("tiny")[:3]]
    summary = (tiny.folder / "results/tiny/summary.md").read_text()
    assert "| oracle | - | oracle | 6 | 6 | 0 | 0 | 0 | 0 | 100.0% | 34.2% to 100.0% |" in summary


def test_an_artifact_that_graders_cannot_read_is_data(make_project: Make) -> None:
    """A generator that fails ends in records with its stderr, not in a failed job, and is tried again twice at most."""
    project = make_project(arms={"oracle": {"harness": "oracle"}})
    task = project.add_task("alpha", workspace_generator="workspace/generator.py")
    (task / "workspace/generator.py").write_text("raise SystemExit('no seed today')\n")
    project.add_set("tiny", "algorithmic__alpha")
    for attempt in range(3):
        project.snakemake("results/tiny/summary.md")
        row = project.records("tiny")[0]
        assert ("error", "inputs_error", None) == (row["status"], row["reason"], row["passed"])
        assert "no seed today" in row["message"]
        planned = project.planned("results/tiny/summary.md")
        assert ({"inputs": 1} if attempt < 2 else {}).items() <= planned.items()
    assert {} == planned


def test_graders_of_a_set_become_a_report(tiny: Project) -> None:
    """results/checks/<set>.md tells what the graders are worth."""
    tiny.snakemake("results/checks/tiny.md")
    report = (tiny.folder / "results/checks/tiny.md").read_text()
    assert "algorithmic__alpha" in report
    assert "PASS" in report


def test_the_report_on_graders_follows_the_configuration_and_the_manifest(tiny: Project) -> None:
    """A grader that is too slow for the configured limit is no good, and a changed manifest is looked at again."""
    target = "results/checks/tiny.md"
    tiny.snakemake(target)
    task = tiny.folder / "problems/artifact/algorithmic/alpha"
    (task / "task.yaml").write_text(f"{(task / 'task.yaml').read_text()}tags: [changed]\n")
    assert {"checks": 1} == tiny.planned(target)
    grader = task / "grader/hidden.py"
    grader.write_text(
        f"import time\n{grader.read_text()}".replace("    artifact =", "    time.sleep(3)\n    artifact =")
    )
    tiny.config["limits"] = {"grader_wall_s": 1}
    tiny.write_config()
    tiny.snakemake(target)
    assert "wall limit (1 s by the clock)" in (tiny.folder / target).read_text()


@pytest.mark.parametrize("field", ["output_artifact", "workspace_dir", "problem_statement"])
def test_a_name_that_no_file_can_have_is_a_fault_of_its_task(tiny: Project, field: str) -> None:
    """A name of 300 letters stops what needs that task, in one line, and nothing else."""
    broken = tiny.add_task("gamma", **{field: "a" * 300})
    tiny.add_set("all", "artifact:*")
    done = tiny.snakemake("results/all/summary.md", check=False)
    assert f"{field}: " in done.stdout and "expected a name that a file can have" in done.stdout
    assert "Traceback" not in done.stdout
    assert f"{broken.name}/task.yaml" in done.stdout
    tiny.snakemake("results/tiny/summary.md")


def test_an_empty_list_of_negative_cases_is_an_error(tiny: Project) -> None:
    """A gate that tried nothing does not pass."""
    (tiny.folder / "problems/artifact/algorithmic/alpha/grader/negative_cases.py").write_text("NEGATIVE_CASES = []\n")
    done = tiny.regrade("graders", "--negative", "--tasks-dir", "problems/artifact", "--json", check=False)
    assert 1 == done.returncode
    assert "NEGATIVE_CASES is empty" in done.stdout
