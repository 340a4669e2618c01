"""The static audit of SelfBench tasks: sizes, overlaps, and test commands."""

import json

import pytest

from regrade import cli
from regrade.formats.selfbench.audit import audit
from selfbench_tasks import added, task, vectors, write, write_vector

AS_GIT_MEANS_THEM = {"gold.crlf.headers", "no.prefix.diff", "u2028.in.path", "removed.line.starting.with.--"}
"""Vectors whose headers or lines the format's tool does not see, and git does: there is no blocker left."""


def blockers(folder, *patches, **changes):
    return list(audit(task(folder, *patches, **changes)).blockers)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in vectors("audit")])
def test_vectors(row, tmp_path, capsys):
    """The command prints the verdict, all blockers in the format's order and words, and what was counted."""
    if row["id"] in AS_GIT_MEANS_THEM:
        metrics = {"implementationFiles": 1, "implementationChangedLines": 20, "testFiles": 1}
        row = {**row, "accepted": True, "blockers": [], "metrics": metrics}
    code = cli.main(["audit", "--json", str(write_vector(tmp_path, row))])
    found = json.loads(capsys.readouterr().out)
    assert {key: row[key] for key in ("accepted", "blockers", "metrics")} == found
    assert code == (0 if row["accepted"] else 1)


def test_in_words_each_blocker_has_a_line(tmp_path, capsys):
    """And the counts stand behind them."""
    assert 1 == cli.main(["audit", str(write(tmp_path, None, added("src/a.py", 19)))])
    assert [
        "easy mode requires at least 20 changed implementation lines; found 19",
        "rejected: implementationFiles 1, implementationChangedLines 19, testFiles 1",
    ] == capsys.readouterr().out.splitlines()
    assert 0 == cli.main(["audit", str(write(tmp_path))])
    assert capsys.readouterr().out.startswith("accepted: ")


@pytest.mark.parametrize(
    ("difficulty", "files", "lines", "tests"), [("easy", 1, 20, 0), ("medium", 2, 50, 1), ("hard", 3, 100, 2)]
)
def test_each_difficulty_has_its_least(difficulty, files, lines, tests, tmp_path):
    """Exactly that much is enough, one less of each is not."""
    enough = "".join(added(f"src/{number}.py", 1) for number in range(files - 1)) + added("src/z.py", lines - files + 1)
    selectors = [f"tests/old_{number}.py" for number in range(tests)]
    assert [] == blockers(tmp_path / "a", None, enough, difficulty=difficulty, passToPass=selectors)
    less = blockers(tmp_path / "b", None, added("src/a.py", lines - 1), difficulty=difficulty, passToPass=selectors[1:])
    expected = [
        f"{difficulty} mode requires at least {files} implementation files; found 1",
        f"{difficulty} mode requires at least {lines} changed implementation lines; found {lines - 1}",
        f"{difficulty} mode requires at least {tests} pass-to-pass regression tests",
    ]
    assert (expected[1:2] if difficulty == "easy" else expected) == less


def test_lines_of_hunks_count_whatever_they_begin_with(tmp_path):
    """`++i` is added and `-- x` is removed: only headers look like `+++` and `---`."""
    patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n--- x\n+++i\n-a\n+b\n"
    assert 4 == audit(task(tmp_path, None, patch)).implementation_changed_lines


def test_a_file_that_is_moved_away_overlaps_too(tmp_path):
    """Its old name is written as well."""
    move = "diff --git a/tests/test_new.py b/src/b.py\nrename from tests/test_new.py\nrename to src/b.py\n"
    assert ["gold and held-out test patches overlap: tests/test_new.py"] == blockers(
        tmp_path, None, added("src/a.py", 20) + move
    )


def test_a_file_that_is_copied_does_not_overlap(tmp_path):
    """What it is copied from stays as it was."""
    copy = "diff --git a/tests/test_new.py b/src/b.py\ncopy from tests/test_new.py\ncopy to src/b.py\n"
    assert [] == blockers(tmp_path, None, added("src/a.py", 20) + copy)


def test_a_task_without_blockers_still_has_to_keep_the_rules_of_paths(tmp_path, capsys):
    """The command ends with 1 and says which it breaks."""
    assert 1 == cli.main(["audit", "--json", str(write(tmp_path, workdir=".."))])
    printed = capsys.readouterr()
    assert ("", True) == (printed.out, "task path escapes repository: .." in printed.err)


def test_the_reason_is_one_line(tmp_path):
    """Blockers joined by semicolons."""
    found = audit(task(tmp_path, "", "", passToPass=[]))
    assert "; ".join(found.blockers) == found.reason
    assert 3 == len(found.blockers)
