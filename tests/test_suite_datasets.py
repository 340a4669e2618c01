"""Data sets as tasks: rows fill the template, ids follow content, and nothing is fetched or loaded when planning."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer
from project import Project
from regrade.formats.suite.dataset import expand

VECTORS = Path(__file__).parent / "vectors" / "suite" / "dataset.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text().splitlines()]
ROWS = [{"question": f"Q{n}?", "choices": ["a", "b", "c", "d"], "answer": n % 4, "txt": f"t{n}"} for n in range(6)]


def fields(**more: Any) -> dict[str, Any]:
    base = {"id": "d", "category": "k", "dataset": {"name": "n"}, "template": "Q: {{ question }}"}
    return {**base, "scoring": {"type": "exact", "answer_field": "txt"}, **more}


@pytest.mark.parametrize("case", [case for case in CASES if "n" in case["expected"]], ids=lambda case: case["id"])
def test_rows_become_tasks(case: dict[str, Any]) -> None:
    """Prompts and expected values are those that users of the format know; ids and samples are ours (decisions.md)."""
    found = expand(case["task"], case["rows"])
    expected = case["expected"]
    if case["id"] == "dataset-006":
        # A template that names no field of the rows is a fault of every row, not an empty data set.
        assert 5 == sum("missing" in row["fault"] for row in found)
        return
    assert expected["n"] == len(found)
    if "limit" in case["task"]["dataset"] and expected["n"] < len(case["rows"]):
        return
    if case["id"] == "dataset-010":
        # Keys of a map that are text, as `'0'`, mean the value 0 too.
        assert ["A", "B", "2", "3", "A"] == [row["fields"]["scoring"]["value"] for row in found]
        return
    for task, row in zip(expected["tasks"], found, strict=True):
        assert task["prompt"] == row["fields"]["prompt"]
        assert task["scoring"] == row["fields"]["scoring"]
        assert task["_dataset_index"] == row["fields"]["dataset_row"]["index"]


def test_every_field_of_the_task_is_kept() -> None:
    """Thresholds, tiers, few-shot examples and request parameters hold for each row."""
    more = {
        "pass_threshold": 0.5,
        "benchmark_tier": "smoke",
        "few_shot": [{"user": "u", "assistant": "a"}],
        "top_p": 0.9,
    }
    (row,) = expand(fields(**more), ROWS[:1])
    assert more == {name: row["fields"][name] for name in more}
    assert not {"dataset", "template"} & set(row["fields"])


def test_ids_follow_content_not_order() -> None:
    """A shuffled data set has the same ids; the same row twice has two."""
    plain, turned = (expand(fields(), rows) for rows in (ROWS, ROWS[::-1]))
    assert {row["fields"]["prompt"]: row["id"] for row in plain} == {
        row["fields"]["prompt"]: row["id"] for row in turned
    }
    twice = expand(fields(), [ROWS[0], ROWS[0]])
    assert 2 == len({row["id"] for row in twice})


def test_a_limit_takes_a_seeded_sample_in_the_order_of_the_data() -> None:
    """The same rows whatever their order; another seed, others; `shuffle: false` takes the first."""
    rows = [{"question": f"Q{n}", "txt": str(n)} for n in range(100)]

    def chosen(rows: list[dict[str, Any]], **dataset: Any) -> list[str]:
        return [row["id"] for row in expand(fields(dataset={"name": "n", "limit": 10, **dataset}), rows)]

    assert 10 == len(chosen(rows))
    assert set(chosen(rows)) == set(chosen(rows[::-1]))
    assert set(chosen(rows)) != set(chosen(rows, seed=1))
    first = [row["id"] for row in expand(fields(), rows)][:10]
    assert first == chosen(rows, shuffle=False)
    about = expand(fields(dataset={"name": "n", "limit": 10}), rows)[0]["fields"]["dataset_row"]
    assert {"name": "n", "rows": 100, "chosen": 10} == {name: about[name] for name in ("name", "rows", "chosen")}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"template": "{{ nothing }}"}, "'nothing' is undefined"),
        ({"scoring": {"type": "exact", "answer_field": "gone"}}, "answer_field is 'gone'"),
        ({"template": "{{ question.__class__.__mro__ }}"}, "unsafe"),
    ],
)
def test_a_row_that_makes_no_task_says_why(more: dict[str, Any], said: str) -> None:
    """The others are asked all the same; templates reach nothing but the row."""
    (row,) = expand(fields(**more), ROWS[:1])
    assert said in row["fault"]


FILES: dict[str, Callable[[Path], None]] = {
    "rows.jsonl": lambda path: path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS)),
    "rows.csv": lambda path: path.write_text("question,txt\n" + "".join(f"{r['question']},{r['txt']}\n" for r in ROWS)),
    "data/test.parquet": lambda path: _write_parquet(path),
}


def _write_parquet(path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    path.parent.mkdir()
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    parquet.write_table(pyarrow.Table.from_pylist([{"question": "train", "txt": "t"}]), path.with_name("train.parquet"))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer([{"when": "Q3?", "text": "t3"}, {"text": "other"}]) as server:
        yield server


@pytest.fixture
def project(make_project: Callable[..., Project], server: ChatServer) -> Project:
    model = {"adapter": "openai-chat", "model": "m", "base_url": server.base_url, "stream": False, "max_retries": 0}
    project = make_project({"asked": {"harness": "direct", "model": "m"}}, {"m": model})
    project.add_set("tiny", "suite:*")
    return project


@pytest.mark.parametrize("name", FILES)
def test_a_local_data_set_is_asked_row_by_row(project: Project, server: ChatServer, name: str) -> None:
    """By the library `datasets`, from JSONL, CSV and a folder of parquet files, beside the task's file."""
    (project.folder / "problems/suites").mkdir(parents=True)
    FILES[name](project.folder / "problems/suites" / name)
    place = name.split("/")[0]
    project.add_suite("k", fields(dataset={"name": place, "limit": 4}))
    done = project.snakemake("--dry-run", "results/tiny/summary.md")
    assert "dataset" in done.stdout
    assert not (project.folder / "results/tasks").exists()
    project.snakemake("results/tiny/summary.md")
    rows = project.records("tiny")
    assert (4, 4) == (len(rows), server.count)
    assert {"k"} == {row["collection"] for row in rows}
    assert all(row["task"].startswith("d_") for row in rows)
    assert {"rows": 6, "chosen": 4} == {name: rows[0]["suite"]["dataset"][name] for name in ("rows", "chosen")}
    assert "is a subset: 4 of 6 rows" in (project.folder / "results/tiny/summary.md").read_text()
    assert {} == project.planned("results/tiny/summary.md")


def test_scoring_of_a_data_set_runs_again_without_asking(project: Project, server: ChatServer) -> None:
    """Another answer field is another verdict on the same answers."""
    project.write("problems/suites/rows.jsonl", "".join(f"{json.dumps(row)}\n" for row in ROWS))
    project.add_suite("k", fields(dataset={"name": "rows.jsonl"}))
    project.snakemake("results/tiny/summary.md")
    assert 1 == sum(row["status"] == "passed" for row in project.records("tiny"))
    scoring = {"type": "contains", "answer_field": "txt"}
    project.add_suite("k", fields(dataset={"name": "rows.jsonl"}, scoring=scoring))
    project.snakemake("results/tiny/summary.md")
    assert 6 == server.count


@pytest.mark.parametrize(
    ("dataset", "said"),
    [
        ({"name": "rows.jsonl", "trust_remote_code": True}, "trusted_datasets"),
        ({"name": "empty"}, "expected files of one kind"),
    ],
)
def test_what_cannot_be_loaded_is_an_error_that_says_why(
    project: Project, server: ChatServer, dataset: dict[str, Any], said: str
) -> None:
    """Code that comes with a data set runs only where the configuration names it."""
    project.write("problems/suites/rows.jsonl", f"{json.dumps(ROWS[0])}\n")
    project.write("problems/suites/empty/.keep", "")
    project.add_suite("k", fields(dataset=dataset))
    project.snakemake("results/tiny/summary.md")
    (row,) = project.records("tiny")
    assert ("error", "inputs_error", 0) == (row["status"], row["reason"], server.count)
    assert said in row["message"]
