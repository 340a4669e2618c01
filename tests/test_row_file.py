"""The file of rows that one job makes, and what a later job finds of it."""

import json
from pathlib import Path
from typing import Any

from regrade.row_file import RowFile, read


def row(task: str, made_from: str = "v1", repetition: int = 1, **more: Any) -> dict[str, Any]:
    return {"task": task, "repetition": repetition, "made_from": made_from, **more}


def test_rows_stand_in_the_order_that_was_asked_for(tmp_path: Path) -> None:
    """However they came in."""
    output = tmp_path / "raw" / "shard.jsonl"
    with RowFile(output, output.with_name("journal.jsonl")) as rows:
        for task in ("b", "c", "a"):
            rows.add(row(task))
        rows.finish([("a", 1), ("b", 1), ("c", 1)])
    assert [row("a"), row("b"), row("c")] == [json.loads(line) for line in output.read_text().splitlines()]


def test_a_killed_job_goes_on_behind_its_last_whole_row(tmp_path: Path) -> None:
    """A line that was cut short is not believed, and spoils no other."""
    output = tmp_path / "shard.jsonl"
    with RowFile(output, output.with_name("journal.jsonl")) as rows:
        rows.add(row("a"))
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"task": "b", "repet')
    with RowFile(output, output.with_name("journal.jsonl")) as rows:
        assert {("a", 1)} == rows.keep(lambda found: True)
        rows.add(row("b", "v2"))
        rows.finish([("a", 1), ("b", 1)])
    assert {("a", 1): row("a"), ("b", 1): row("b", "v2")} == read(output)


def test_what_was_finished_serves_the_next_job(tmp_path: Path) -> None:
    """Snakemake removes the output before it is made again; rows that still fit are taken from beside it."""
    output = tmp_path / "shard.jsonl"
    with RowFile(output, output.with_name("journal.jsonl")) as rows:
        rows.add(row("a"))
        rows.add(row("b"))
        rows.finish([("a", 1), ("b", 1)])
    output.unlink()
    with RowFile(output, output.with_name("journal.jsonl")) as rows:
        assert {("a", 1)} == rows.keep(lambda found: found["task"] == "a")
        rows.add(row("b", "v2"))
        rows.finish([("a", 1), ("b", 1)])
    assert {("a", 1): row("a"), ("b", 1): row("b", "v2")} == read(output)


def test_what_was_finished_does_not_change_under_its_readers(tmp_path: Path) -> None:
    """The journal is the same file as the output, until a later job writes."""
    output = tmp_path / "shard.jsonl"
    with RowFile(output, output.with_name("journal.jsonl")) as rows:
        rows.add(row("a"))
        rows.finish([("a", 1)])
    before = output.read_bytes()
    assert output.samefile(tmp_path / "journal.jsonl")
    with RowFile(output, output.with_name("journal.jsonl")) as rows:
        rows.add(row("b"))
    assert before == output.read_bytes()


def test_rows_can_be_made_anew(tmp_path: Path) -> None:
    """As under `cache: refresh`: not from what was there before, and kept for later all the same."""
    output, anew, kept = (tmp_path / name for name in ("shard.jsonl", "anew.jsonl", "journal.jsonl"))
    kept.write_text(json.dumps(row("a", "old")) + "\n")
    with RowFile(output, anew) as rows:
        assert {} == rows.before
        rows.add(row("a", "new"))
        rows.finish([("a", 1)], kept)
    assert {("a", 1): row("a", "new")} == read(kept)
    assert {kept, output} == set(tmp_path.iterdir())
