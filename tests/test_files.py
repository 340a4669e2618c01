"""Rows that are added one by one, and tables of them, survive what killed writers and foreign text do."""

import csv
import io
from pathlib import Path

from regrade import files
from regrade.packs import markdown
from regrade.records import as_csv


def test_a_row_after_a_torn_one_stands_alone(tmp_path: Path) -> None:
    """What a full disk cut short is skipped, and takes no later row with it."""
    path = tmp_path / "errors.jsonl"
    files.append_jsonl(path, {"n": 1})
    with path.open("ab") as stream:
        stream.write(b'{"n": 2, "mess')
    files.append_jsonl(path, {"n": 3})
    assert [{"n": 1}, {"n": 3}] == list(files.read_jsonl(path))


def test_no_text_breaks_a_row_of_the_table() -> None:
    """Carriage returns, quotes, commas and line ends in a detail stay in their cell."""
    row = {"task": "t", "detail": 'x\ry "quoted", and\nmore', "score": 0.5, "passed": None}
    [read] = csv.DictReader(io.StringIO(as_csv([row]), newline=""))
    assert {"task": "t", "detail": row["detail"], "score": "0.5", "passed": ""} == read


def test_no_control_character_reaches_a_page() -> None:
    """An escape sequence in a grader's detail is shown, not obeyed."""
    assert "\\x1b" in markdown.cell("\x1b[31mred")
