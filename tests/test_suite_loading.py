"""Files of suite tasks: what is a task, what is a fault, and where it stands."""

import json
from pathlib import Path
from typing import Any

import pytest

from regrade.cli import main
from regrade.errors import FaultsError
from regrade.formats.suite import Loaded, load_all
from regrade.formats.suite.filter import filter_tasks

VECTORS = Path(__file__).parent / "vectors" / "suite" / "validation.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text().splitlines()]
STILL_ACCEPTED = {"validation-030", "validation-042", "validation-054", "validation-056"}
"""Questionable ones that we accept too: what is odd about them is a warning, or nothing that harms."""
REFUSED = {"validation-033"}
"""Unknown keys of a scoring table are faults, but this case has its unknown keys beside it: they are kept."""


def write(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def loaded(tmp_path: Path, content: str) -> Loaded:
    return load_all(write(tmp_path / "suites", tasks=content))


def task(scoring: str, identifier: str = "a", more: str = "") -> str:
    return f"- id: {identifier}\n  category: c\n  prompt: p\n{more}  scoring: {{{scoring}}}\n"


def only_fault(found: Loaded) -> str:
    (faults,) = found.faults.values()
    (fault,) = faults
    return str(fault)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_files_are_accepted_or_refused_as_decided(case: dict[str, Any], tmp_path: Path) -> None:
    """Sound files as everywhere; what the format's tool lets pass and then stumbles over is a fault with its place."""
    for name, content in case["files"].items():
        path = tmp_path / "suites" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    found = load_all(tmp_path / "suites")
    expected = case["expected"]
    if case.get("questionable") and case["id"] not in STILL_ACCEPTED:
        assert found.faults
    else:
        assert expected["accepted"] is not bool(found.faults)
    if expected["accepted"] and not case.get("questionable") and expected["n_tasks"]:
        assert expected["ids"] == list(found.tasks)
        if "versions" in expected:
            assert expected["versions"] == [source.metadata.get("version") for source in found.tasks.values()]
    assert all(str(tmp_path) in str(fault) for fault in found.all_faults())


@pytest.mark.parametrize("words", ["no", "012", "1:30", "1_000", "2026-01-01", "yes", "0x1f"])
def test_a_value_that_yaml_changes_is_a_fault(words: str, tmp_path: Path) -> None:
    """With its line, and the hint to quote it."""
    found = only_fault(loaded(tmp_path, f"# a comment\n{task(f'type: exact, value: {words}')}"))
    assert "tasks.yaml: line 5: a: scoring.value" in found
    assert f"quote it ('{words}')" in found


@pytest.mark.parametrize(("words", "value"), [("1.10", "1.10"), ("42.0", "42.0"), ("42", "42"), ("'007'", "007")])
def test_a_number_stays_as_it_was_written(words: str, value: str, tmp_path: Path) -> None:
    """Where texts are compared."""
    assert value == loaded(tmp_path, task(f"type: exact, value: {words}")).tasks["a"].scoring["value"]


@pytest.mark.parametrize(
    ("scoring", "said"),
    [
        ("type: nummeric, value: 1", "unknown scoring type 'nummeric'; did you mean 'numeric'"),
        ("type: EXACT, value: x", "unknown scoring type 'EXACT'"),
        ("type: exact, valeu: x, value: y", "scoring.valeu: unknown key; did you mean 'value'"),
        ("type: exact", "has none of value, answer, answer_field"),
        ("type: regex, pattern: '('", "is no valid pattern"),
        ("type: numeric, value: many", "is 'many', expected a finite number"),
        ("type: numeric, value: .nan", "expected a finite number"),
        ("type: word_count, min: 5, max: 2", "expected at most max (2)"),
        ("type: pass_at_k, k: 1, inner_type: bogus", "expected a type that scores one answer"),
        ("type: llm_judge, criteria: 5", "scoring.criteria"),
        (
            "type: repo_patch, repo_fixture: gone, test_command: [pytest]",
            "'gone' is no folder, expected",
        ),
        ("type: agent_loop, repo_fixture: gone", "has no test_command"),
    ],
)
def test_a_scoring_table_that_cannot_score_is_a_fault(scoring: str, said: str, tmp_path: Path) -> None:
    """Misspelt types and keys, missing and impossible values."""
    assert said in only_fault(loaded(tmp_path, task(scoring)))


def test_one_bad_task_stops_no_other(tmp_path: Path) -> None:
    """The sound ones load, the faulty one is named."""
    found = loaded(
        tmp_path, task("type: exact, value: x") + task("type: bad", "b") + task("type: exact, value: y", "c")
    )
    assert (["a", "c"], ["b"]) == (list(found.tasks), list(found.faults))


def test_an_id_that_stands_twice_is_nobodys(tmp_path: Path) -> None:
    """Both places are named."""
    found = load_all(write(tmp_path, one=task("type: exact, value: x"), two=task("type: exact, value: x")))
    assert [] == list(found.tasks)
    assert "two.yaml: line 1: id" in only_fault(found) and "one.yaml, line 1" in only_fault(found)


def test_what_is_unknown_is_kept_and_what_is_nearly_known_is_told(tmp_path: Path) -> None:
    """A task may carry fields of its own."""
    found = loaded(tmp_path, task("type: exact, value: x", more="  my_note: 5\n  dificulty: easy\n"))
    assert 5 == found.tasks["a"].fields["my_note"]
    assert ["warning"] == [fault.severity for fault in found.warnings]
    assert "did you mean 'difficulty'" in str(found.warnings[0])


def test_a_tolerance_that_lets_zero_pass_is_told(tmp_path: Path) -> None:
    """It is likely a mistake, and is allowed."""
    found = loaded(tmp_path, task("type: numeric, value: 0.000004, tolerance: 0.01"))
    assert ["a"] == list(found.tasks)
    assert "an answer of 0 passes" in str(found.warnings[0])


@pytest.mark.parametrize("place", ["beside", "above", "here"])
def test_a_fixture_is_looked_for_in_three_places(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the task's file, in the folder above the suites, in the current folder; the first that is there."""
    suites, here = tmp_path / "project" / "suites", tmp_path / "here"
    folder = {"beside": suites, "above": suites.parent, "here": here}[place] / "fixtures" / "demo"
    folder.mkdir(parents=True)
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)
    scoring = "type: repo_patch, repo_fixture: fixtures/demo, test_command: ['{python}', -m, pytest]"
    assert str(folder) == load_all(write(suites, code=task(scoring))).tasks["a"].fixture


def test_what_parsing_gave_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    """A torn file of it is nothing."""
    suites, cache = write(tmp_path / "suites", one=task("type: exact, value: x")), tmp_path / "cache"
    first = load_all(suites, cache)
    (kept,) = cache.iterdir()
    kept.write_text(kept.read_text().replace('"x"', '"kept"'))
    assert "kept" == load_all(suites, cache).tasks["a"].scoring["value"]
    kept.write_text('{"tasks": [')
    assert "x" == load_all(suites, cache).tasks["a"].scoring["value"] == first.tasks["a"].scoring["value"]
    write(suites, one=task("type: exact, value: z"))
    assert "z" == load_all(suites, cache).tasks["a"].scoring["value"]


def test_a_filter_takes_what_fits_every_key(tmp_path: Path) -> None:
    """Values that fit nothing are faults with the nearest that does."""
    content = task("type: exact, value: x", more="  tags: [t]\n") + task("type: exact, value: x", "b")
    tasks = load_all(write(tmp_path, one=content)).tasks
    assert ["a"] == list(filter_tasks(tasks, {"category": ["c"], "tags": "t"}))
    assert ["a", "b"] == list(filter_tasks(tasks, {"category": "one"}))
    with pytest.raises(FaultsError, match=r"filter.ids: 'aa' fits no task"):
        filter_tasks(tasks, {"ids": ["aa"]})


@pytest.mark.parametrize("as_file", [True, False])
def test_check_takes_a_file_or_a_folder(as_file: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 for faults, each with its place; 0 for warnings alone."""
    folder = write(tmp_path, sound=task("type: exact, value: x"))
    (folder / "left.yml").write_text(task("type: exact, value: x"))
    assert 0 == main(["check", str(folder / "sound.yaml" if as_file else folder)])
    assert as_file or "left.yml: warning: is not read" in capsys.readouterr().out
    write(folder, sound=task("type: exact"))
    assert 1 == main(["check", "--json", str(folder / "sound.yaml" if as_file else folder)])
    fault = json.loads(capsys.readouterr().out.splitlines()[0])
    assert "line 4: a: scoring" == fault["field"]


def test_check_holds_references_to_tasks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reference answer to no task is a fault."""
    write(tmp_path, sound=task("type: exact, value: x"))
    write(tmp_path / "oracle", sound="a: x\ngone: y\n")
    assert 1 == main(["check", str(tmp_path)])
    assert "oracle/sound.yaml: gone: answers no task of sound.yaml" in capsys.readouterr().out


def test_ten_thousand_tasks_are_read_from_what_was_kept(tmp_path: Path) -> None:
    """In their order, and the same as the first time."""
    for number in range(10):
        tasks = "".join(task(f"type: exact, value: '{n}'", f"t{number}_{n}") for n in range(1000))
        write(tmp_path / "suites", **{f"part{number}": tasks})
    first, second = (load_all(tmp_path / "suites", tmp_path / "cache") for _ in range(2))
    assert 10_000 == len(first.tasks)
    assert list(first.tasks) == list(second.tasks)
    assert first.tasks["t3_7"].fields == second.tasks["t3_7"].fields
