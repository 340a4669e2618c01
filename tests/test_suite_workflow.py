"""Task suites by the real Snakemake: what is asked, what runs again, and what becomes of what goes wrong."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer
from project import Project

SUMMARY = "results/tiny/summary.md"
SUMMARIES = {"set_records": 1, "set_summary": 1}
ANSWERS = [{"when": "capital", "text": "Paris"}, {"when": "sum", "text": "It is 7."}, {"text": "I do not know"}]


def exact(identifier: str, prompt: str, value: str, **more: Any) -> dict[str, Any]:
    return {"id": identifier, "prompt": prompt, "scoring": {"type": "exact", "value": value}, **more}


def numeric(identifier: str, prompt: str, value: float, **more: Any) -> dict[str, Any]:
    return {"id": identifier, "prompt": prompt, "scoring": {"type": "numeric", "value": value}, **more}


CAPITAL = exact("capital", "Name the capital of France.", "Paris")
SUM = numeric("sum", "What is the sum of 3 and 4?", 7)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWERS) as server:
        yield server


def make(make_project: Callable[..., Project], server: ChatServer, **config: Any) -> Project:
    """Two tasks in two files, under oracle, nop and a model."""
    model = {
        "adapter": "openai-chat",
        "model": "m",
        "base_url": server.base_url,
        "stream": False,
        "request": {"temperature": 0},
        "max_retries": 0,
        "prices": {"input": 1, "output": 2},
    }
    arms = {
        "oracle": {"harness": "oracle"},
        "nop": {"harness": "nop"},
        "asked": {"harness": "direct", "model": "asked"},
    }
    project = make_project(arms, {"asked": model}, **config)
    project.add_suite("knowledge", CAPITAL)
    project.add_references("knowledge", {"capital": "Paris"})
    project.add_suite("math", SUM)
    project.add_references("math", {"sum": "7"})
    project.add_set("tiny", "suite:*")
    return project


def outcomes(project: Project, arm: str = "asked") -> dict[str, tuple[str, str | None]]:
    return {row["task"]: (row["status"], row["reason"]) for row in project.records("tiny") if row["arm"] == arm}


def test_a_suite_is_asked_scored_and_summarised(make_project: Callable[..., Project], server: ChatServer) -> None:
    """Oracle passes, nop does not, and a model's answers are paid once, also for the collection's run."""
    project = make(make_project, server)
    project.snakemake(SUMMARY, "results/runs/asked/suite/math/summary.md")
    rows = project.records("tiny")
    assert [("oracle", "passed")] * 2 + [("nop", "failed")] * 2 + [("asked", "passed")] * 2 == [
        (row["arm"], row["status"]) for row in rows
    ]
    assert 2 == server.count
    asked = next(row for row in rows if row["arm"] == "asked" and row["task"] == "sum")
    assert ("direct", "m", 1.0, 1) == (asked["harness"], asked["model"], asked["score"], asked["turns"])
    assert {"prompt": 10, "output": 2} == {name: asked["tokens"][name] for name in ("prompt", "output")}
    assert 1.4e-05 == pytest.approx(asked["cost_usd"])
    assert {"temperature": 0} == asked["suite"]["sent"]
    run = (project.folder / "results/runs/asked/suite/math/run.jsonl").read_text().splitlines()
    assert ["sum"] == [json.loads(line)["task"] for line in run]
    assert {} == project.planned(SUMMARY, "results/runs/asked/suite/math/summary.md")


def test_an_edit_runs_again_only_what_it_touches(make_project: Callable[..., Project], server: ChatServer) -> None:
    """Scoring is done again without asking, a prompt is asked again alone, a new task moves no other."""
    project = make(make_project, server)
    project.snakemake(SUMMARY)
    project.add_suite("math", {**SUM, "scoring": {"type": "numeric", "value": 8}})
    assert {"score_answers": 3, **SUMMARIES} == project.planned(SUMMARY)
    project.snakemake(SUMMARY)
    assert ("failed", "wrong_answer") == outcomes(project)["sum"]
    changed = next(row for row in project.records("tiny") if (row["task"], row["arm"]) == ("sum", "asked"))
    assert ["passed"] == [verdict["status"] for verdict in changed["earlier"]]
    assert 2 == server.count
    project.add_suite("math", {**SUM, "prompt": "What is the sum of 4 and 3?"})
    project.snakemake(SUMMARY)
    assert 3 == server.count
    project.add_suite("other", exact("more", "Say more.", "more"))
    project.add_references("other", {"more": "more"})
    project.snakemake(SUMMARY)
    assert 4 == server.count
    project.add_set("tiny", "suite:math/*", "more", "capital")
    project.snakemake(SUMMARY)
    assert 4 == server.count
    assert ["sum", "more", "capital"] == [row["task"] for row in project.records("tiny") if row["arm"] == "asked"]
    project.add_set("tiny", "sum")
    project.snakemake(SUMMARY)
    assert {"sum": ("passed", None)} == outcomes(project)
    assert 4 == server.count


@pytest.mark.parametrize("cache", ["on", "off"])
def test_one_prompt_is_asked_again_alone(make_project: Callable[..., Project], server: ChatServer, cache: str) -> None:
    """Without the response store too: answers that still fit are taken over from the shard as it was."""
    project = make(make_project, server, cache=cache)
    project.snakemake(SUMMARY)
    project.add_suite("math", {**SUM, "prompt": "What is the sum of 4 and 3?"})
    project.snakemake(SUMMARY)
    assert 3 == server.count


def test_a_refresh_asks_again_and_keeps(make_project: Callable[..., Project], server: ChatServer) -> None:
    """`cache: refresh` takes nothing from before; `only` then takes all and asks nobody."""
    project = make(make_project, server)
    project.snakemake(SUMMARY)
    forced = ("--forcerun", "ask", "--", SUMMARY)
    project.snakemake(*forced)
    assert 2 == server.count
    project.config["cache"] = "refresh"
    project.write_config()
    project.snakemake(*forced)
    assert 4 == server.count
    project.config["cache"] = "only"
    project.write_config()
    run = "results/runs/asked/suite/math/run.jsonl"
    project.snakemake(run)
    assert 4 == server.count
    (record,) = (json.loads(line) for line in (project.folder / run).read_text().splitlines())
    assert ("passed", True) == (record["status"], record["cached"])
    project.add_suite("math", {**SUM, "prompt": "What is the sum of 4 and 3?"})
    project.snakemake(run)
    (record,) = (json.loads(line) for line in (project.folder / run).read_text().splitlines())
    assert ("error", "provider_error", 4) == (record["status"], record["reason"], server.count)


def test_equal_questions_are_paid_once(make_project: Callable[..., Project], server: ChatServer) -> None:
    """Two tasks that ask the same share the answer, also when both are asked at once."""
    server.script([{"text": "Paris", "delay_s": 0.2}])
    project = make(make_project, server)
    project.add_suite("math", exact("again", "Name the capital of France.", "Paris"))
    project.snakemake(SUMMARY)
    assert {"capital": ("passed", None), "again": ("passed", None)} == outcomes(project)
    assert 1 == server.count


def test_touching_files_runs_nothing(make_project: Callable[..., Project], server: ChatServer) -> None:
    """What a file says counts, not when it was written."""
    project = make(make_project, server)
    project.snakemake(SUMMARY)
    for path in project.folder.rglob("*"):
        if path.is_file() and "results" not in path.parts:
            path.touch()
    assert {} == project.planned(SUMMARY)


def test_a_failed_call_is_tried_again_and_no_other(make_project: Callable[..., Project], server: ChatServer) -> None:
    """An error of the server is no zero; the next call asks for that answer alone, at most error_retries times."""
    server.script([{"when": "sum", "status": 500, "body": "broken"}, *ANSWERS])
    project = make(make_project, server, error_retries=1)
    project.snakemake(SUMMARY)
    assert {"capital": ("passed", None), "sum": ("error", "provider_error")} == outcomes(project)
    assert 2 == server.count
    project.snakemake(SUMMARY)
    assert 3 == server.count
    assert {} == project.planned(SUMMARY)
    server.script(ANSWERS)
    project.config["error_retries"] = 2
    project.write_config()
    project.snakemake(SUMMARY)
    assert 4 == server.count
    assert {"capital": ("passed", None), "sum": ("passed", None)} == outcomes(project)


def test_a_faulty_task_stops_no_other(make_project: Callable[..., Project], server: ChatServer) -> None:
    """It stands in the table as an error with what is wrong; nobody is asked for it."""
    project = make(make_project, server)
    project.add_suite("math", SUM, {"id": "broken", "prompt": "What?", "scoring": {"type": "nummeric", "value": 1}})
    project.snakemake(SUMMARY)
    assert ("error", "inputs_error") == outcomes(project)["broken"]
    assert ("passed", None) == outcomes(project)["sum"]
    broken = next(row for row in project.records("tiny") if row["task"] == "broken")
    assert "nummeric" in broken["message"] and "math.yaml" in broken["message"]
    assert 0 == broken["cost_usd"]
    assert 2 == server.count
    assert {} == project.planned(SUMMARY)


def test_pairs_that_make_no_sense_are_not_run(make_project: Callable[..., Project], server: ChatServer) -> None:
    """An agent on a question, an oracle without a reference, a picture before a model that reads none."""
    arms = {
        "oracle": {"harness": "oracle"},
        "agent": {"harness": "external-agent", "command": ["true"]},
        "embedded": {"harness": "direct", "model": "small"},
    }
    small = {"adapter": "openai-chat", "model": "m", "runtime": {"engine": "xllamacpp", "weights": "none.gguf"}}
    project = make_project(arms, {"small": small})
    project.add_suite("knowledge", exact("seen", "What is it?", "A cat", image_url="https://example.org/cat.png"))
    project.add_set("tiny", "suite:*")
    project.snakemake(SUMMARY)
    assert {"oracle", "agent", "embedded"} == {row["arm"] for row in project.records("tiny")}
    assert {("not_run", "not_applicable")} == {(row["status"], row["reason"]) for row in project.records("tiny")}
    assert {} == project.planned(SUMMARY)


def test_repetitions_are_separate_answers(make_project: Callable[..., Project], server: ChatServer) -> None:
    """More of them ask only for the further ones."""
    project = make(make_project, server)
    project.snakemake(SUMMARY)
    project.config["repetitions"] = 3
    project.write_config()
    project.snakemake(SUMMARY)
    assert 6 == server.count
    assert [1, 2, 3] == [
        row["repetition"] for row in project.records("tiny") if (row["task"], row["arm"]) == ("sum", "asked")
    ]


def test_pass_at_k_draws_its_own_samples(make_project: Callable[..., Project], server: ChatServer) -> None:
    """One record from n answers, whatever the repetitions."""
    project = make(make_project, server, repetitions=2)
    scoring = {"type": "pass_at_k", "k": 1, "n": 4, "inner_type": "exact", "value": "Paris"}
    project.add_suite("math", {"id": "drawn", "prompt": "Name the capital.", "scoring": scoring})
    project.add_references("math", {"drawn": ["Paris", "Rome"]})
    project.add_set("tiny", "drawn")
    project.snakemake(SUMMARY)
    assert 4 == server.count
    rows = {row["arm"]: row for row in project.records("tiny")}
    assert 3 == len(project.records("tiny"))
    assert (1.0, "passed", 4) == (rows["asked"]["score"], rows["asked"]["status"], rows["asked"]["turns"])
    assert (0.5, 2) == (rows["oracle"]["score"], rows["oracle"]["suite"]["scored"]["passed_samples"])


def test_a_filter_takes_a_category_by_file_or_by_field(
    make_project: Callable[..., Project], server: ChatServer
) -> None:
    """A file vision.yaml may hold tasks of the category reasoning; both names find them."""
    project = make(make_project, server)
    project.add_suite("vision", exact("seen", "Name the capital.", "Paris", category="reasoning"))
    for category in ("vision", "reasoning"):
        project.config["filter"] = {"category": category}
        project.write_config()
        project.snakemake(SUMMARY)
        assert {"seen": ("passed", None)} == outcomes(project)


def test_a_folder_that_is_not_there_is_named(make_project: Callable[..., Project], server: ChatServer) -> None:
    """Not only that its selectors select nothing."""
    done = make(make_project, server).snakemake(SUMMARY, "--config", "suites_dir=nowhere", check=False)
    assert 1 == done.returncode
    assert "config.yaml: suites_dir: 'nowhere' is no folder, expected an existing one" in done.stdout


def test_suites_written_elsewhere_run_where_they_lie(
    make_project: Callable[..., Project], server: ChatServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """--config suites_dir=PATH names their folder."""
    project = make(make_project, server)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "own.yaml").write_text(
        "- id: capital_own\n  category: knowledge\n  prompt: Name the capital.\n"
        "  scoring:\n    type: exact\n    value: Paris\n"
    )
    project.snakemake(SUMMARY, "--config", f"suites_dir={elsewhere}")
    assert {"capital_own": ("passed", None)} == outcomes(project)


def test_a_killed_run_asks_again_only_what_was_in_flight(
    make_project: Callable[..., Project], server: ChatServer
) -> None:
    """Also without the store; no file is left half written."""
    server.script([{"text": "Paris", "delay_s": 0.2}])
    project = make(make_project, server, cache="off")
    project.add_suite("many", *(exact(f"many_{number}", f"Question {number}", "Paris") for number in range(60)))
    project.add_set("tiny", "suite:many/*")
    project.config["arms"] = {"asked": {"harness": "direct", "model": "asked"}}
    project.write_config()
    run = subprocess.Popen(
        [*project.command(), SUMMARY], cwd=project.folder, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until = time.monotonic() + 60
    while server.count < 24 and time.monotonic() < until:
        time.sleep(0.05)
    subprocess.run(["kill", f"-{signal.SIGKILL}", "--", f"-{run.pid}"], check=True)
    run.wait()
    time.sleep(0.5)
    answered = server.count
    project.snakemake("--unlock")
    project.snakemake(SUMMARY)
    assert 24 <= answered < 60
    assert server.count <= 60 + 4
    assert {"passed"} == {row["status"] for row in project.records("tiny")}


def test_results_that_came_without_metadata_are_taken_over(
    make_project: Callable[..., Project], server: ChatServer
) -> None:
    """What fits is kept and nothing is asked; what was made from another prompt goes."""
    project = make(make_project, server)
    project.snakemake(SUMMARY)
    subprocess.run(["rm", "-r", str(project.folder / ".snakemake")], check=True)
    snakefile = project.command()[project.command().index("--snakefile") + 1]
    project.regrade("adopt", "--snakefile", snakefile)
    assert SUMMARIES == project.planned(SUMMARY)
    project.add_suite("math", {**SUM, "prompt": "What is the sum of 4 and 3?"})
    project.regrade("adopt", "--snakefile", snakefile)
    project.snakemake(SUMMARY)
    assert 3 == server.count


def test_a_stale_verdict_is_refused_by_name(make_project: Callable[..., Project], server: ChatServer) -> None:
    """A number that was not made from what the plan says is never printed."""
    project = make(make_project, server)
    project.snakemake(SUMMARY)
    verdicts = project.folder / "results/tiny/grade/asked/shard-1-of-1.jsonl"
    rows = [json.loads(line) for line in verdicts.read_text().splitlines()]
    rows[0]["digests"]["grader"] = "0" * 64
    Path(verdicts).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = project.snakemake("--forcerun", "set_records", "--", SUMMARY, check=False)
    assert 0 != done.returncode
    assert "capital under asked, repetition 1: was made from another grader" in done.stdout
