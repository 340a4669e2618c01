"""What an edit, a change of settings or a mended server runs again in suites, and how many questions it costs."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chat_server import ChatServer
from project import Project

SUMMARY = "results/tiny/summary.md"
SCORED = {"score_answers": 1, "set_records": 1, "set_summary": 1}
RECORDED = {"set_records": 1, "set_summary": 1}
ASKED = {"ask": 1, **SCORED}


def task(identifier: str, prompt: str = "", **more: Any) -> dict[str, Any]:
    scoring = {"type": "exact", "value": "Paris"}
    return {"id": identifier, "prompt": prompt or f"Question {identifier}", "scoring": scoring, **more}


DRAWN = {"type": "pass_at_k", "k": 1, "inner_type": "exact", "value": "Paris"}
A, B, C = task("a"), task("b"), task("c")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer([{"text": "Paris"}]) as server:
        yield server


def make(make_project: Callable[..., Project], server: ChatServer, *tasks: dict[str, Any], **config: Any) -> Project:
    """Some tasks in one file under one arm."""
    model = {
        "adapter": "openai-chat",
        "model": "m",
        "base_url": server.base_url,
        "stream": False,
        "max_retries": 0,
        "max_concurrency": 1,
        "prices": {"input": 1, "output": 2},
    }
    project = make_project({"asked": {"harness": "direct", "model": "asked"}}, {"asked": model}, **config)
    project.add_suite("one", *(tasks or (A, B, C)))
    project.add_set("tiny", "suite:*")
    return project


def configure(project: Project, **settings: Any) -> None:
    project.config |= settings
    project.write_config()


def outcomes(project: Project) -> dict[str, tuple[str, str | None]]:
    return {row["task"]: (row["status"], row["reason"]) for row in project.records("tiny")}


def smoke(project: Project) -> None:
    project.add_suite("one", task("a", benchmark_tier="smoke"), B, C)


def risky(project: Project) -> None:
    project.add_suite("one", task("a", contamination_risk="high"), B, C)


def surface(project: Project) -> None:
    project.add_suite("one", task("a", execution_surface="terminal"), B, C)


def version(project: Project) -> None:
    project.add_suite("one", A, B, C, metadata={"version": 3})


def threshold(project: Project) -> None:
    project.add_suite("one", task("a", pass_threshold=0.5), B, C)


def tags_as_text(project: Project) -> None:
    project.models["asked"]["thinking"] = "none"
    project.write_config()


def another_name(project: Project) -> None:
    project.models["renamed"] = project.models.pop("asked")
    project.config["arms"]["asked"]["model"] = "renamed"
    project.write_config()


EDITS = [
    (smoke, RECORDED, 0),
    (risky, RECORDED, 0),
    (surface, RECORDED, 0),
    (version, RECORDED, 0),
    (threshold, SCORED, 0),
    (tags_as_text, SCORED, 0),
    (another_name, ASKED, 0),
]


@pytest.mark.parametrize(("edit", "planned", "questions"), EDITS, ids=[edit.__name__ for edit, _, _ in EDITS])
def test_an_edit_runs_again_what_it_touches(
    make_project: Callable[..., Project],
    server: ChatServer,
    edit: Callable[[Project], None],
    planned: dict[str, int],
    questions: int,
) -> None:
    """Labels make records, scoring makes verdicts, and who asks under another name asks for nothing that was paid."""
    project = make(make_project, server)
    project.snakemake(SUMMARY)
    edit(project)
    assert planned == project.planned(SUMMARY)
    project.snakemake(SUMMARY)
    assert 3 + questions == server.count
    assert {} == project.planned(SUMMARY)


def test_labels_reach_the_records(make_project: Callable[..., Project], server: ChatServer) -> None:
    """A task that becomes a smoke test leaves the headline at once."""
    project = make(make_project, server)
    project.snakemake(SUMMARY)
    smoke(project)
    project.snakemake(SUMMARY)
    assert ("smoke", False) == tuple(project.records("tiny")[0]["suite"][name] for name in ("tier", "headline"))


def test_what_a_file_says_of_its_tasks_reaches_the_records(
    make_project: Callable[..., Project], server: ChatServer
) -> None:
    """All four keys of metadata; a tier counts in any case, as of files written elsewhere."""
    project = make(make_project, server)
    about = {"version": "2", "release": "r", "signal_snapshot": "s", "signal_source": "f"}
    project.add_suite("one", task("a", benchmark_tier=" Smoke "), metadata=about)
    project.snakemake(SUMMARY)
    said = project.records("tiny")[0]["suite"]
    assert {**about, "tier": "smoke", "headline": False} == {name: said[name] for name in [*about, "tier", "headline"]}


def back_and_forth(project: Project) -> Iterator[None]:
    """States of a project that end as it began."""
    project.add_suite("one", task("a", "Another question"), B, C)
    yield
    project.add_suite("one", A, B, C)
    yield
    project.add_suite("one", A, B)
    yield
    project.add_suite("one", A, B, C)
    yield
    configure(project, filter={"ids": ["c"]})
    yield
    configure(project, filter={})
    yield
    project.add_set("tiny", "a")
    yield
    project.add_set("tiny", "suite:*")
    yield
    configure(project, repetitions=2)
    yield
    configure(project, repetitions=1)
    yield
    configure(project, repetitions=2)
    yield


def test_what_was_paid_once_is_never_asked_again(make_project: Callable[..., Project], server: ChatServer) -> None:
    """Wherever edits, filters, sets and repetitions go and come back from: one new prompt, three further answers."""
    project = make(make_project, server)
    project.snakemake(SUMMARY)
    counts = []
    for _ in back_and_forth(project):
        project.snakemake(SUMMARY)
        counts.append(server.count)
    assert [4, 4, 4, 4, 4, 4, 4, 4, 7, 7, 7] == counts
    configure(project, repetitions=1, cache="only")
    project.add_suite("one", task("a", "Another question"), B, C)
    project.snakemake(SUMMARY)
    assert {"passed"} == {row["status"] for row in project.records("tiny")}
    assert 7 == server.count


def test_more_samples_ask_for_the_further_ones(make_project: Callable[..., Project], server: ChatServer) -> None:
    """By `n`, and where the task says nothing by the configuration's repetitions."""
    project = make(make_project, server, task("drawn", scoring={**DRAWN, "n": 2}), task("free", scoring=DRAWN))
    project.snakemake(SUMMARY)
    assert 3 == server.count
    project.add_suite("one", task("drawn", scoring={**DRAWN, "n": 4}), task("free", scoring=DRAWN))
    project.snakemake(SUMMARY)
    assert 5 == server.count
    configure(project, repetitions=3)
    project.snakemake(SUMMARY)
    assert 7 == server.count
    assert [4, 3] == [row["suite"]["scored"]["samples"] for row in project.records("tiny")]
    assert {} == project.planned(SUMMARY)


def test_a_budget_is_raised_as_often_as_it_takes(make_project: Callable[..., Project], server: ChatServer) -> None:
    """Each raise asks for what the last one left; one that stopped nothing plans nothing. All costs are known."""
    project = make(make_project, server, *(task(f"t{number}") for number in range(8)), budget={"usd": 0.00003})
    counts = []
    for usd in (0.00003, 0.00006, 0.00009, 1, 2):
        configure(project, budget={"usd": usd})
        project.snakemake(SUMMARY)
        assert {} == project.planned(SUMMARY)
        counts.append(server.count)
        costs = [row["cost_usd"] for row in project.records("tiny") if row["arm"] == "asked"]
        assert (counts[-1], 8) == (sum(cost > 0 for cost in costs), len(costs))
    assert 8 == counts[-1] == counts[-2]
    assert counts[0] < counts[1] < counts[2] < 8
    assert {("passed", None)} == set(outcomes(project).values())


JUDGED = {"type": "llm_judge", "criteria": "Mark it"}
MARKS = [{"when": "Mark it", "text": "SCORE: 9"}, {"text": "Paris"}]


def test_a_judge_without_money_is_asked_when_there_is_some(
    make_project: Callable[..., Project], server: ChatServer
) -> None:
    """It is no error of the judge's, and no answer is asked for again."""
    server.script(MARKS)
    tasks = [task(name, scoring=JUDGED) for name in ("a", "b", "c")]
    project = make(make_project, server, *tasks, judge="asked", budget={"usd": 0.000045})
    project.snakemake(SUMMARY)
    assert {("passed", None), ("not_run", "budget")} == set(outcomes(project).values())
    project.snakemake(SUMMARY)
    configure(project, budget={"usd": 1})
    project.snakemake(SUMMARY)
    assert {("passed", None)} == set(outcomes(project).values())
    assert 6 == server.count


@pytest.mark.parametrize("budget", [None, 0.00003])
def test_rows_of_a_data_set_are_tried_again(
    make_project: Callable[..., Project], server: ChatServer, budget: float | None
) -> None:
    """What a server failed at, and what a budget stopped, is asked once that is mended; nothing else is."""
    pytest.importorskip("datasets")
    if budget is None:
        server.script([{"when": "city 2", "status": 500, "body": "broken"}, {"text": "Paris"}])
    rows = "".join(f'{{"n": "city {number}", "a": "Paris"}}\n' for number in range(4))
    settings = {"budget": {"usd": budget}} if budget else {}
    made = {"id": "rows", "dataset": {"name": "rows.jsonl"}, "template": "Name {{ n }}."}
    project = make(make_project, server, {**made, "scoring": {"type": "exact", "answer_field": "a"}}, **settings)
    project.write("problems/suites/rows.jsonl", rows)
    project.snakemake(SUMMARY)
    assert 2 == len(set(outcomes(project).values()))
    server.script([{"text": "Paris"}])
    configure(project, **({"budget": {"usd": 1}} if budget else {}))
    project.snakemake(SUMMARY)
    assert {("passed", None)} == set(outcomes(project).values())
    assert (4 if budget else 5) == server.count
    assert {} == project.planned(SUMMARY)


def test_a_task_that_always_fails_is_given_up(make_project: Callable[..., Project], server: ChatServer) -> None:
    """After `error_retries` further calls it is left alone, also when a neighbour is asked."""
    server.script([{"when": "Question a", "status": 500, "body": "broken"}, {"text": "Paris"}])
    project = make(make_project, server, error_retries=1)
    project.snakemake(SUMMARY)
    project.snakemake(SUMMARY)
    assert 4 == server.count
    project.add_suite("one", A, task("b", "Another question"), C)
    project.snakemake(SUMMARY)
    assert 5 == server.count
    assert {"a": ("error", "provider_error"), "b": ("passed", None), "c": ("passed", None)} == outcomes(project)


def test_a_filter_keeps_faulty_tasks_of_what_it_takes(make_project: Callable[..., Project], server: ChatServer) -> None:
    """They stand as errors beside the sound ones."""
    faulty = task("faulty", scoring={"type": "exakt"}, category="reasoning", tags=["t"], benchmark_tier="coding")
    project = make(make_project, server, task("sound", category="reasoning", tags=["t"]), faulty, task("other"))
    for chosen in ({"category": "reasoning"}, {"tags": ["t"]}):
        configure(project, filter=chosen)
        project.snakemake(SUMMARY)
        assert {"sound": ("passed", None), "faulty": ("error", "inputs_error")} == outcomes(project)


def test_what_was_not_sent_is_said_of_its_own_task(make_project: Callable[..., Project], server: ChatServer) -> None:
    """Two tasks share an answer, and only one of them asked for what the protocol does not have."""
    project = make(make_project, server, task("a", "Same?"), task("b", "Same?", reasoning_summary="auto"))
    project.snakemake(SUMMARY)
    assert 1 == server.count
    warnings = {row["task"]: row["warnings"] for row in project.records("tiny")}
    assert [] == warnings["a"]
    assert ["reasoning_summary of the task was not sent: openai-chat has no such parameter"] == warnings["b"]


def test_absurd_counts_and_braces_stop_nobody(make_project: Callable[..., Project], server: ChatServer) -> None:
    """A count of tokens that cannot be is unknown; a file's name is no pattern."""
    pytest.importorskip("datasets")
    server.script([{"text": "Paris", "usage": {"prompt_tokens": 10**400, "completion_tokens": 2}}])
    made = {"id": "rows", "dataset": {"name": "rows.jsonl"}, "template": "Name {{ n }}."}
    project = make(make_project, server)
    project.add_suite("d{x}", {**made, "scoring": {"type": "exact", "answer_field": "a"}})
    project.write("problems/suites/rows.jsonl", '{"n": "one", "a": "Paris"}\n{"n": null, "a": "Paris"}\n{"a": "x"}\n')
    project.snakemake(SUMMARY)
    found = list(outcomes(project).values())
    assert (4, 2) == (found.count(("passed", None)), found.count(("error", "inputs_error")))
    assert {None} == {row["tokens"]["prompt"] for row in project.records("tiny")}
    assert 4 == server.count


def test_long_prompts_and_hidden_tests_reach_their_jobs(
    make_project: Callable[..., Project], server: ChatServer
) -> None:
    """What does not fit into a command line travels in a file."""
    server.script([{"text": '{"tool": "final", "args": {"summary": "done"}}'}])
    long = "# '" + "x" * 150_000 + "'\n"
    scoring = {
        "type": "agent_loop",
        "repo_fixture": "repository",
        "test_command": ["{python}", "-m", "pytest", "-q"],
        "hidden_tests": [{"path": "tests/test_a.py", "content": f"{long}def test_a():\n    pass\n"}],
        "max_steps": 2,
    }
    project = make(make_project, server, task("looped", "Do it. " + "y" * 150_000, scoring=scoring), B)
    project.write("problems/suites/repository/a.py", "a = 1\n")
    project.snakemake(SUMMARY)
    assert {"looped": ("passed", None), "b": ("failed", "wrong_answer")} == outcomes(project)


def test_a_fixture_that_leads_out_is_the_tasks_fault(make_project: Callable[..., Project], server: ChatServer) -> None:
    """It stops no other task."""
    scoring = {"type": "agent_loop", "repo_fixture": "repository", "test_command": ["{python}", "-m", "pytest"]}
    project = make(make_project, server, task("looped", scoring=scoring), B)
    project.write("problems/suites/repository/a.py", "a = 1\n")
    (project.folder / "problems/suites/repository/out").symlink_to("/etc/passwd")
    project.snakemake(SUMMARY)
    assert {"looped": ("error", "inputs_error"), "b": ("passed", None)} == outcomes(project)


def test_an_answer_that_names_no_number_is_a_fault_of_its_row(
    make_project: Callable[..., Project], server: ChatServer
) -> None:
    """Rows are held to what tasks are held to, before anybody is asked."""
    pytest.importorskip("datasets")
    made = {"id": "rows", "dataset": {"name": "rows.jsonl"}, "template": "Name {{ n }}."}
    project = make(make_project, server, {**made, "scoring": {"type": "numeric", "answer_field": "a"}})
    project.write("problems/suites/rows.jsonl", '{"n": "one", "a": "Paris"}\n{"n": "two", "a": "3"}\n')
    project.snakemake(SUMMARY)
    assert {("error", "inputs_error"), ("failed", "invalid_format")} == set(outcomes(project).values())
    assert 1 == server.count
