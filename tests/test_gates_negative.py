"""The negative gate: six statuses, default and own cases, and files of cases that prove nothing."""

from pathlib import Path

import pytest

from artifact_support import GRADER, make_task
from regrade.formats import artifact
from regrade.gates import Finding
from regrade.gates.run import negative_gate

LENIENT = """
from swebench.artifact_models import GradeResult
def grade(scratch_dir):
    text = (scratch_dir / "output/answer.txt").read_text()
    return GradeResult("answer" in text, 1.0, "No Answer" if "answer" not in text else "found")
"""

CASES = "from swebench.artifact_negative import NegativeCase, default_negative_cases\nNEGATIVE_CASES = "


def check(folder: Path, grader: str = GRADER, cases: str | None = None, nan: bool = False) -> dict[str, Finding]:
    """Findings by case on a task with this grader and this file of cases."""
    files: dict[str, str | bytes] = {"grader/hidden.py": grader}
    if cases is not None:
        files["grader/negative_cases.py"] = cases
    task = artifact.load(make_task(folder, files=files))
    return {finding.case: finding for finding in negative_gate([task], jobs=1, with_nan=nan)}


def one(folder: Path, case: str, grader: str = LENIENT) -> Finding:
    """The finding on a single own case."""
    (finding,) = check(folder, grader, f"{CASES}[NegativeCase({case})]\n").values()
    return finding


def test_default_cases_without_a_file(tmp_path: Path) -> None:
    """A strict grader rejects all six; a lenient one has weak misses, which fail no gate."""
    found = check(tmp_path / "a")
    assert ["empty", "truncated_half", "reversed_lines", "renamed_field", "off_by_one", "wrap_in_list"] == list(found)
    assert {"PASS"} == {finding.status for finding in found.values()}
    found = check(tmp_path / "b", LENIENT)
    assert ("PASS", "WEAK_MISS", False) == (
        found["empty"].status,
        found["off_by_one"].status,
        found["off_by_one"].is_bad,
    )


def test_nan_is_one_more_when_asked_for(tmp_path: Path) -> None:
    """Every number as NaN is a seventh case, also beside own cases, and none for a text without numbers."""
    found = check(tmp_path / "a", LENIENT, nan=True)
    assert (7, "WEAK_MISS") == (len(found), found["nan_numbers"].status)
    own = f"{CASES}[NegativeCase('gone', lambda text: '')]\n"
    assert ["gone", "nan_numbers"] == list(check(tmp_path / "b", LENIENT, own, nan=True))


@pytest.mark.parametrize(
    ("case", "status", "is_bad", "detail"),
    [
        ("'x', lambda text: 'no'", "PASS", False, "No Answer"),
        ("'x', lambda text: 'no', expected_substring='no ANSWER'", "PASS", False, "No Answer"),
        ("'x', lambda text: 'no', expected_substring='order'", "WRONG_REASON", True, "expected 'order' in: No Answer"),
        ("'x', lambda text: text + 'x'", "MISS", True, "accepted"),
        ("'x', lambda text: text + 'x', currently_caught=False, notes='see #12'", "EXPECTED_MISS", False, "see #12"),
        ("'x', lambda text: 'no', currently_caught=False, notes='https://example.org/7'", "PASS", False, "No Answer"),
        ("'x', lambda text: text + 'x', currently_caught=False", "ERROR", True, "expected a link or number"),
        ("'x', lambda text: text + 'x', currently_caught=False, notes='known'", "ERROR", True, "'known'"),
        ("'x', lambda text: text", "ERROR", True, "no-op"),
        ("'x', lambda text: 1 / 0", "ERROR", True, "ZeroDivisionError"),
        ("'x', lambda text: None", "ERROR", True, "returned a NoneType"),
        ("'x', lambda text: __import__('sys').exit(0)", "ERROR", True, "SystemExit"),
    ],
)
def test_own_cases(tmp_path: Path, case: str, status: str, is_bad: bool, detail: str) -> None:
    """Own cases replace the default ones, and each ends in one of six statuses."""
    finding = one(tmp_path, case)
    assert (status, is_bad) == (finding.status, finding.is_bad)
    assert detail in finding.detail


def test_own_cases_on_top_of_the_default_ones(tmp_path: Path) -> None:
    """Default cases in a task's own list count as its own."""
    found = check(tmp_path, LENIENT, f"{CASES}default_negative_cases() + [NegativeCase('x', str.upper)]\n")
    assert 7 == len(found)
    assert ("MISS", True) == (found["off_by_one"].status, found["off_by_one"].is_bad)


def test_names_are_unique(tmp_path: Path) -> None:
    """The second case of a name is an error, the first is tried."""
    cases = f"{CASES}[NegativeCase('x', lambda text: 'a'), NegativeCase('x', lambda text: 'b')]\n"
    task = artifact.load(make_task(tmp_path, files={"grader/negative_cases.py": cases}))
    assert ["PASS", "ERROR"] == [finding.status for finding in negative_gate([task], jobs=1)]


@pytest.mark.parametrize(
    ("cases", "detail"),
    [
        ("raise ValueError('mine')\n", "ValueError: mine"),
        ("def broken(:\n", "SyntaxError"),
        ("import os\nos._exit(0)\n", "ended its process"),
        ("NEGATIVE_CASES = 'text'\n", "NEGATIVE_CASES is a str"),
        ("NEGATIVE_CASES = [('x', str.upper)]\n", "NEGATIVE_CASES holds a tuple"),
    ],
)
def test_file_of_cases_that_cannot_be_used(tmp_path: Path, cases: str, detail: str) -> None:
    """A file that does not load is one error of its task, and other tasks go on."""
    good = artifact.load(make_task(tmp_path, "algorithmic__good"))
    bad = artifact.load(make_task(tmp_path, "algorithmic__bad", {"grader/negative_cases.py": cases}))
    first, *rest = negative_gate([bad, good], jobs=2)
    assert ("ERROR", "negative_cases.py") == (first.status, first.case)
    assert detail in first.detail
    assert ["PASS"] * 6 == [finding.status for finding in rest]


def test_file_without_a_list_means_the_default_cases(tmp_path: Path) -> None:
    """A file of cases that names none leaves the six default ones."""
    assert 6 == len(check(tmp_path, cases="x = 1\n"))


def test_broken_grader_is_an_error(tmp_path: Path) -> None:
    """A grader that raises on a wrong artifact has not rejected it."""
    grader = LENIENT.replace("return", "assert text\n    return", 1)
    finding = check(tmp_path, grader)["empty"]
    assert ("ERROR", True) == (finding.status, finding.is_bad)


def test_line_ends_are_unified_and_bytes_are_not(tmp_path: Path) -> None:
    """Mutations see a CRLF reference with plain line ends; substrings are sought in the whole detail."""
    grader = """
from swebench.artifact_models import GradeResult
def grade(scratch_dir):
    return GradeResult(False, 0.0, "x" * 5000 + repr((scratch_dir / "output/answer.txt").read_bytes()))
"""
    case = f"{CASES}[NegativeCase('x', lambda text: text + repr(text), expected_substring='a\\\\nb\\\\n')]\n"
    files: dict[str, str | bytes] = {
        "grader/hidden.py": grader, "grader/negative_cases.py": case, "grader/reference_output.txt": b"a\r\nb\r\n",
    }  # fmt: skip
    (finding,) = negative_gate([artifact.load(make_task(tmp_path, files=files))], jobs=1)
    assert "PASS" == finding.status, finding.detail[-100:]


def test_reference_that_is_not_text(tmp_path: Path) -> None:
    """A reference that is not UTF-8 has no text to mutate."""
    task = artifact.load(make_task(tmp_path, files={"grader/reference_output.txt": b"\xff"}))
    (finding,) = negative_gate([task], jobs=1)
    assert ("ERROR", True) == (finding.status, finding.is_bad)
