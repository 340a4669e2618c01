"""The positive gate: references that pass, twice alike, and graders that are not sure."""

from pathlib import Path

import pytest

from artifact_support import GRADER, make_task
from regrade.formats import artifact
from regrade.gates import Finding
from regrade.gates.run import positive_gate


def check(folder: Path, grader: str) -> Finding:
    """The finding on a task with this grader."""
    task = artifact.load(make_task(folder, files={"grader/hidden.py": grader}))
    (finding,) = positive_gate([task], jobs=1)
    return finding


def saying(expression: str, score: str = "1.0") -> str:
    """A grader that passes everything with a computed detail."""
    return f"""
import datetime, os, socket, time
from swebench.artifact_models import GradeResult
def grade(scratch_dir):
    return GradeResult(True, {score}, str({expression}))
"""


def test_reference_passes(tmp_path: Path) -> None:
    """A reference that passes with the full score is PASS."""
    finding = check(tmp_path, GRADER)
    assert ("PASS", 1.0, "compared", False) == (finding.status, finding.score, finding.detail, finding.is_bad)


@pytest.mark.parametrize(
    "expression",
    [
        "hash('a word')",
        "next(iter({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}))",
        "time.time() // 1000000",
        "datetime.datetime.now().year",
        "datetime.date.today()",
        "time.localtime().tm_gmtoff",
    ],
)
def test_clock_hash_seed_and_time_zone_make_a_difference(tmp_path: Path, expression: str) -> None:
    """A verdict that hangs on the clock, the time zone or the order of a set is FAIL."""
    finding = check(tmp_path, saying(expression))
    assert ("FAIL", True) == (finding.status, finding.is_bad)
    assert "detail differed" in finding.detail


def test_rejected_reference_and_missing_score(tmp_path: Path) -> None:
    """A rejected reference is FAIL, and so is one that passes without the full score."""
    finding = check(tmp_path / "a", saying("''").replace("True", "False"))
    assert ("FAIL", True) == (finding.status, finding.is_bad)
    finding = check(tmp_path / "b", saying("''", "0.99"))
    assert "score 0.99, expected 1.0" in finding.detail


def test_broken_grader_is_an_error(tmp_path: Path) -> None:
    """A grader that raises, also only the second time, is ERROR."""
    finding = check(tmp_path / "a", saying("1 / 0"))
    assert ("ERROR", None) == (finding.status, finding.score)
    assert "ZeroDivisionError" in finding.detail
    finding = check(
        tmp_path / "b", saying("1 / (datetime.date.today().year < 2028 or 0)").replace("2028", this_year_plus(2))
    )
    assert "ERROR" == finding.status


def this_year_plus(years: int) -> str:
    """A year from now on."""
    import datetime

    return str(datetime.date.today().year + years)


def test_inputs_that_cannot_be_made(tmp_path: Path) -> None:
    """A task whose inputs cannot be made is ERROR, and the others go on."""
    good = artifact.load(make_task(tmp_path, "algorithmic__good"))
    folder = make_task(tmp_path, "algorithmic__bad")
    (folder / "workspace/out").symlink_to("/etc/passwd")
    statuses = [finding.status for finding in positive_gate([artifact.load(folder), good], jobs=2)]
    assert ["ERROR", "PASS"] == statuses
