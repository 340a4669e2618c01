"""What a repair may change in a SelfBench task."""

import pytest

from regrade import cli
from regrade.formats.selfbench import repair
from selfbench_tasks import added, definition, task, vectors, write

TESTS = added("tests/test_new.py", 3)
REPAIRED = added("tests/test_new.py", 4)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in vectors("repair")])
def test_vectors(row):
    """Fields that must stay, then paths that must be tests, then what was changed outside of them."""
    patch, changed = row["originalTestPatch"].encode(), row.get("changedPaths", [])
    if row["kind"] == "coupling":
        assert row["error"] == repair.check_coupling_paths(patch, changed)
        return
    field = repair.changed_field(definition(), definition(**row.get("repairedOverrides", {})))
    error = f"validation repair changed immutable definition field {field}" if field else None
    assert row.get("error") == (error or repair.check_paths(patch, changed))


def said(capsys, old, new, *options):
    """The exit code of the command, and what it printed."""
    code = cli.main(["repair", "check", str(old), str(new), *options])
    printed = capsys.readouterr()
    return code, (printed.out + printed.err).strip()


@pytest.mark.parametrize(
    ("patches", "changes", "error"),
    [
        ((REPAIRED,), {}, None),
        ((), {"setupCommand": "true", "resources": {"cpus": 1, "memoryMb": 1, "storageMb": 1}}, None),
        ((), {}, "validation repair left the task unchanged"),
        ((), {"schemaVersion": 2}, "validation repair changed immutable definition field schemaVersion"),
        ((REPAIRED,), {"sourceUrl": "https://a/"}, "validation repair changed immutable definition field sourceUrl"),
        ((), {"taskId": "b", "prompt": "b"}, "validation repair changed immutable definition field taskId"),
        ((None, added("src/a.py", 21)), {}, "validation repair changed files outside held-out tests: src/a.py"),
        ((TESTS + added("tests/b", 1),), {}, "validation repair changed files outside held-out tests: tests/b"),
        ((REPAIRED + "\n",), {"workdir": "./"}, "validation repair changed immutable definition field workdir"),
    ],
)
def test_repair_check(patches, changes, error, tmp_path, capsys):
    """Two folders, before and after: 0, or 1 with the format's message."""
    old, new = write(tmp_path / "old"), write(tmp_path / "new", *patches, **changes)
    expected = (1, error) if error else (0, "the repair changes only what it may")
    assert expected == said(capsys, old, new)


def test_a_repaired_definition_has_to_be_sound(tmp_path, capsys):
    """Its faults are named as everywhere."""
    old, new = write(tmp_path / "old"), write(tmp_path / "new", testCommand="pytest")
    code, message = said(capsys, old, new)
    assert (1, True) == (code, "testCommand: is" in message)


@pytest.mark.parametrize(
    ("patches", "changes", "error"),
    [
        ((REPAIRED,), {}, None),
        ((), {}, "repair left the held-out test patch unchanged"),
        ((None, added("src/a.py", 21)), {}, "repair changed files outside the held-out tests: src/a.py"),
        ((REPAIRED,), {"setupCommand": "true"}, "coupling repair changed definition field setupCommand"),
    ],
)
def test_a_repair_of_coupling_leaves_the_definition_alone(patches, changes, error, tmp_path, capsys):
    """And needs no paths that look like tests."""
    old, new = write(tmp_path / "old"), write(tmp_path / "new", *patches, **changes)
    expected = (1, error) if error else (0, "the repair changes only what it may")
    assert expected == said(capsys, old, new, "--coupling")


def test_tasks_are_compared_as_folders_are(tmp_path):
    """For callers that have both tasks at hand."""
    old, new = task(tmp_path / "old"), task(tmp_path / "new", prompt="b")
    assert "validation repair changed immutable definition field prompt" == repair.check(old, new)
    assert repair.check(old, task(tmp_path / "fine", REPAIRED)) is None


def test_blank_lines_between_files_are_no_change(tmp_path):
    """Nor is another order of the files."""
    one, two = added("tests/a.py", 1), added("tests/b.py", 1)
    old, new = task(tmp_path / "old", one + two), task(tmp_path / "new", two + "\n" + one)
    assert [] == repair.changed_paths(old, new)
