"""What runs again after an edit, counted from Snakemake's job list and from a server that counts requests."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chat_server import ChatServer
from project import REPOSITORY, Project
from regrade import digests
from regrade.files import recorded
from regrade.workspace import freeze, work_digest

SUMMARY = "results/tiny/summary.md"
SUMMARIES = {"set_records": 1, "set_summary": 1}
ANSWER = [{"text": "```output/answer.txt\n42\n```"}]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        yield server


@pytest.fixture
def done(make_project: Callable[..., Project], server: ChatServer) -> Project:
    """A finished benchmark: two tasks under oracle and a model, two answers paid."""
    model = {"adapter": "openai-chat", "model": "m", "base_url": server.base_url, "request": {"temperature": 0}}
    arms = {"oracle": {"harness": "oracle"}, "asked": {"harness": "single-shot", "model": "asked"}}
    project = make_project(arms, {"asked": {**model, "max_retries": 0}})
    project.add_task("alpha", answer="42")
    project.add_task("beta", answer="7")
    project.add_set("tiny", "algorithmic__alpha", "algorithmic__beta")
    project.snakemake(SUMMARY)
    assert 2 == server.count
    assert ["passed", "passed", "passed", "failed"] == [row["status"] for row in project.records("tiny")]
    return project


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_nothing_runs_after_touching_everything_and_moving_the_folder(done: Project) -> None:
    """Time stamps and places do not count: every file touched, then the folder renamed, plans nothing."""
    for path in [*done.folder.rglob("*.yaml"), *done.folder.rglob("*.py"), *done.folder.rglob("*.md")]:
        path.touch()
    assert {} == done.planned(SUMMARY)
    shutil.copytree(done.folder, done.folder.with_name("elsewhere"), symlinks=True)
    moved = Project.__new__(Project)
    moved.folder = done.folder.with_name("elsewhere")
    assert {} == moved.planned(SUMMARY)


def test_a_changed_rule_text_runs_nothing(done: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A comment and a changed shell line in a copy of the workflow plan nothing."""
    copy = tmp_path_factory.mktemp("workflow")
    shutil.copy(REPOSITORY / "Snakefile", copy)
    shutil.copytree(REPOSITORY / "workflow", copy / "workflow", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "profiles", copy / "profiles")
    edit(copy / "workflow/rules/trial.smk", "rule trial:", "# a comment\nrule trial:")
    edit(copy / "workflow/rules/trial.smk", "-m regrade.trial", "-B -m regrade.trial")
    output = done.call([*done.command()[:3], "--snakefile", str(copy / "Snakefile"), "-c1", "-n", SUMMARY], True, {})
    assert "Nothing to be done" in output.stdout


def test_an_edited_grader_grades_its_task_again_and_asks_nobody(done: Project, server: ChatServer) -> None:
    """Only that task's grades and the summaries run, and the summary says which verdicts changed."""
    edit(done.folder / "problems/artifact/algorithmic/beta/grader/hidden.py", 'b"7"', 'b"42"')
    assert {"grade": 2, **SUMMARIES} == done.planned(SUMMARY)
    done.snakemake(SUMMARY)
    assert 2 == server.count
    row = done.records("tiny")[3]
    assert ("passed", ["failed"]) == (row["status"], [verdict["status"] for verdict in row["earlier"]])
    summary = (done.folder / SUMMARY).read_text()
    assert "| algorithmic__beta | asked | 1 | failed (wrong_answer), score 0 | passed, score 1 |" in summary
    assert {} == done.planned(SUMMARY)


def test_a_file_beside_a_grader_counts_and_a_cache_of_python_does_not(done: Project) -> None:
    """A helper in grader/ changes the grader; __pycache__ there is no content."""
    grader = done.folder / "problems/artifact/algorithmic/alpha/grader"
    (grader / "__pycache__").mkdir()
    (grader / "__pycache__/hidden.cpython-311.pyc").write_bytes(b"cache")
    assert {} == done.planned(SUMMARY)
    (grader / "helper.py").write_text("LIMIT = 3\n")
    assert {"grade": 2, **SUMMARIES} == done.planned(SUMMARY)


@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        ("prompt.md", {"trial": 2, "grade": 2}),
        ("workspace/input.txt", {"inputs": 1, "trial": 2, "grade": 2}),
    ],
)
def test_an_edited_prompt_or_input_asks_for_its_task_only(
    done: Project, server: ChatServer, name: str, jobs: dict[str, int]
) -> None:
    """That task's trials and later run, with one new question."""
    path = done.folder / "problems/artifact/algorithmic/alpha" / name
    path.write_text(f"{path.read_text()}and more\n")
    assert {**jobs, **SUMMARIES} == done.planned(SUMMARY)
    done.snakemake(SUMMARY)
    assert 3 == server.count
    assert {} == done.planned(SUMMARY)


def test_a_models_setting_asks_for_its_arm_only(done: Project, server: ChatServer) -> None:
    """Another temperature asks both questions again, back to the first asks none: the store has the answers."""
    done.models["asked"]["request"]["temperature"] = 1
    done.write_config()
    assert {"trial": 2, "grade": 2, **SUMMARIES} == done.planned(SUMMARY)
    done.snakemake(SUMMARY)
    assert 4 == server.count
    done.models["asked"]["request"]["temperature"] = 0
    done.write_config()
    done.snakemake(SUMMARY)
    assert 4 == server.count
    assert [True, True] == [row["cached"] for row in done.records("tiny")[2:]]


def test_what_does_not_make_an_answer_runs_nothing_or_summaries(done: Project) -> None:
    """Time limits and concurrency of a model plan nothing; its price plans the summaries."""
    done.models["asked"] |= {"read_timeout_s": 7, "max_concurrency": 1, "max_retries": 1}
    done.write_config()
    assert {} == done.planned(SUMMARY)
    done.models["asked"]["prices"] = {"input": 1.0, "output": 2.0}
    done.write_config()
    assert SUMMARIES == done.planned(SUMMARY)


def test_a_task_more_or_less(done: Project, server: ChatServer) -> None:
    """An added task runs its own trials, a removed one only the summaries."""
    done.add_task("gamma")
    done.add_set("tiny", "algorithmic__gamma", "algorithmic__alpha", "algorithmic__beta")
    assert {"inputs": 1, "trial": 2, "grade": 2, **SUMMARIES} == done.planned(SUMMARY)
    done.add_set("tiny", "algorithmic__alpha")
    assert SUMMARIES == done.planned(SUMMARY)


def test_an_arm_more_or_less_and_a_set_in_another_order(done: Project, server: ChatServer) -> None:
    """An added arm runs its trials, a removed one and a re-ordered set only the set's files."""
    done.config["arms"]["nop"] = {"harness": "nop"}
    done.write_config()
    assert {"trial": 2, "grade": 2, **SUMMARIES} == done.planned(SUMMARY)
    del done.config["arms"]["nop"], done.config["arms"]["oracle"]
    done.write_config()
    assert SUMMARIES == done.planned(SUMMARY)
    done.snakemake(SUMMARY)
    done.add_set("tiny", "algorithmic__beta", "algorithmic__alpha")
    assert SUMMARIES == done.planned(SUMMARY)
    done.snakemake(SUMMARY)
    assert ["algorithmic__beta", "algorithmic__alpha"] == [row["task"] for row in done.records("tiny")]
    assert 2 == server.count


def test_two_sets_share_their_trials(done: Project) -> None:
    """A second set over the same tasks makes only its own files."""
    done.add_set("other", "algorithmic__beta")
    assert SUMMARIES == done.planned("results/other/summary.md")


def test_more_repetitions_ask_for_the_new_ones_only(done: Project, server: ChatServer) -> None:
    """From one to three repetitions: the first comes from the store, under its new name."""
    done.config["repetitions"] = 3
    done.write_config()
    done.snakemake(SUMMARY)
    assert 6 == server.count
    raw = done.folder / "results/runs/asked/artifact/algorithmic/raw"
    names = [f"alpha.rep-00{number}.{kind}.json" for number in (1, 2, 3) for kind in ("request", "response")]
    assert names == sorted(path.name for path in raw.glob("alpha*"))


def test_changed_code_of_grading_grades_and_changed_code_of_asking_does_nothing(
    done: Project, server: ChatServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A copy of the workflow with another grading module grades all again; with another harness it does nothing."""
    copy = tmp_path_factory.mktemp("workflow")
    shutil.copy(REPOSITORY / "Snakefile", copy)
    shutil.copytree(REPOSITORY / "workflow", copy / "workflow", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "profiles", copy / "profiles")
    library = copy / "workflow/scripts/regrade"
    dry = [*done.command()[:3], "--snakefile", str(copy / "Snakefile"), "-c1", "-n", SUMMARY]
    environment = {"PYTHONPATH": str(library.parent)}
    edit(library / "harnesses/single_shot.py", "FILES_CHARS = 8000", "FILES_CHARS = 9000")
    assert "Nothing to be done" in done.call(dry, True, environment).stdout
    edit(library / "graders/verdict.py", "wrong_answer", "wrong_answer ".strip() + '" or "')
    output = done.call(dry, True, environment).stdout
    assert "grade              4" in output or "grade            4" in output
    assert "trial" not in output.split("Job stats")[1].split("total")[0]


def test_an_infrastructure_error_is_tried_again_at_most_twice(done: Project, server: ChatServer) -> None:
    """A trial whose server failed is the only one that the next calls run, until the retries are used up."""
    done.add_task("gamma", answer="42")
    done.add_set("tiny", "algorithmic__alpha", "algorithmic__beta", "algorithmic__gamma")
    server.script([{"status": 500, "body": "down"}])
    for count in (3, 4, 5):
        done.snakemake(SUMMARY)
        assert count == server.count
        row = done.records("tiny")[-1]
        assert ("error", "provider_error", None) == (row["status"], row["reason"], row["passed"])
        expected = {"trial": 1, "grade": 1, **SUMMARIES} if count < 5 else {}
        assert expected == done.planned(SUMMARY)
    assert "| asked | m | single-shot | 3 | 1 | 1 | 1 | 0 | 0 | 33.3% |" in (done.folder / SUMMARY).read_text()


def test_an_error_that_goes_away_is_forgotten(done: Project, server: ChatServer) -> None:
    """The second try succeeds, and then nothing is left to do."""
    done.add_task("gamma", answer="42")
    done.add_set("tiny", "algorithmic__gamma")
    server.script([{"status": 503, "body": "later"}])
    done.snakemake(SUMMARY)
    server.script(ANSWER)
    done.snakemake(SUMMARY)
    assert ["passed", "passed"] == [row["status"] for row in done.records("tiny")]
    assert {} == done.planned(SUMMARY)


def test_the_store_alone_serves_a_second_benchmark(done: Project, server: ChatServer) -> None:
    """cache: only makes everything again from the stored answers; a question it lacks is an error, not a call."""
    for name in ("runs", "tiny", "tasks"):
        shutil.rmtree(done.folder / "results" / name)
    done.config["cache"] = "only"
    done.write_config()
    server.script([{"status": 500, "body": "must not be asked"}])
    done.snakemake(SUMMARY)
    assert ["passed", "passed", "passed", "failed"] == [row["status"] for row in done.records("tiny")]
    done.add_task("gamma")
    done.add_set("tiny", "algorithmic__gamma")
    done.snakemake(SUMMARY)
    assert "provider_error" == done.records("tiny")[1]["reason"]
    assert 2 == server.count


def test_adopt_takes_over_results_without_metadata(done: Project, server: ChatServer) -> None:
    """Copied results with one stale grade: the others are kept, that one is made again, and nobody is asked."""
    shutil.rmtree(done.folder / ".snakemake")
    edit(done.folder / "problems/artifact/algorithmic/beta/grader/hidden.py", 'b"7"', 'b"42"')
    for name in ("records.jsonl", "summary.md"):
        (done.folder / "results/tiny" / name).unlink()
    refused = done.snakemake(SUMMARY, check=False).stdout
    assert "beta/rep-001.json: algorithmic__beta under asked, repetition 1: was made from another grader" in refused
    done.regrade("adopt", "--snakefile", str(REPOSITORY / "Snakefile"))
    assert {"grade": 2, **SUMMARIES} == done.planned(SUMMARY)
    done.snakemake(SUMMARY)
    assert "passed" == done.records("tiny")[3]["status"]
    assert 2 == server.count
    assert {} == done.planned(SUMMARY)
    edit(done.folder / "problems/artifact/algorithmic/alpha/grader/hidden.py", 'b"42"', 'b"41"')
    assert {"grade": 2, **SUMMARIES} == done.planned(SUMMARY)


def test_a_workspaces_digest_is_the_one_its_trial_recorded(done: Project) -> None:
    """What adopt recomputes of a fresh trial is what freezing it gave, links and right to be run included."""
    folder = done.folder / "results/runs/asked/artifact/algorithmic"
    outcome = recorded(folder / "task/alpha/rep-001.trial.json")
    assert outcome["digests"]["work"] == work_digest(next(folder.glob("**/alpha/rep-001/output")).parent)
    workspace, pristine = done.folder / "odd", done.folder / "pristine"
    for place in (workspace, pristine):
        place.mkdir()
        (place / "run.sh").write_text("true\n")
        (place / "run.sh").chmod(0o755)
    (workspace / "link").symlink_to("nowhere")
    (workspace / "__pycache__").mkdir()
    (workspace / "__pycache__/x.pyc").write_bytes(b"x")
    manifest = {"run.sh": {"sha256": digests.of_file(pristine / "run.sh")}}
    assert freeze(workspace, pristine, manifest).digest == work_digest(workspace)


@pytest.mark.parametrize(
    ("torn", "jobs"),
    [
        ("tasks/artifact/algorithmic/alpha/workspace/input.txt", {"inputs": 1, "trial": 2, "grade": 2}),
        ("runs/asked/artifact/algorithmic/**/alpha/rep-001/output/answer.txt", {"trial": 1, "grade": 1}),
    ],
)
def test_adopt_does_not_believe_a_truncated_copy(
    done: Project, server: ChatServer, torn: str, jobs: dict[str, int]
) -> None:
    """An input or a trial's file whose bytes are not the recorded ones is made again, from the stored answer."""
    shutil.rmtree(done.folder / ".snakemake")
    (path,) = (done.folder / "results").glob(torn)
    path.unlink()
    path.touch()
    done.regrade("adopt", "--snakefile", str(REPOSITORY / "Snakefile"))
    assert {**jobs, **SUMMARIES} == done.planned(SUMMARY)
    done.snakemake(SUMMARY)
    assert path.stat().st_size
    assert 2 == server.count
