"""The lints: details that tell the answer, and verifiers that nobody declared."""

from pathlib import Path

import pytest

from artifact_support import make_task
from regrade.gates.leaks import find
from regrade.gates.run import lints

LEAKY = [
    'GradeResult(False, 0.0, f"expected {truth}, got {found}")',
    'GradeResult(False, 0.0, detail=f"optimal: {best}")',
    'models.GradeResult(False, 0.0, f"the Reference has {n} rows")',
    'GradeResult(False, 0.0, f"want={value!r}")',
    'GradeResult(passed=False, score=0.0, detail="expected %d" % value)',
    'GradeResult(False, 0.0, "expected: {}".format(value))',
    'GradeResult(False, 0.0, "wrong" if x else f"ref {value}")',
]

CLEAN = [
    'GradeResult(False, 0.0, f"off by more than 5 % on {n} of {m} endpoints")',
    'GradeResult(False, 0.0, "output artifact not produced")',
    'GradeResult(False, 0.0, f"expected a {kind.__name__}")',
    'GradeResult(False, 0.0, f"expected columns are missing from the table, {n} of them")',
    'GradeResult(False, 0.0, f"prefer {n}")',
    'GradeResult(False, 0.0, f"{n} rows, not as expected")',
    'GradeResult(False, 0.0, "the expected order is missing {x}")',
    "GradeResult(False, 0.0, detail)",
    'print(f"expected {truth}")',
]


@pytest.mark.parametrize("source", LEAKY)
def test_details_that_tell(source: str) -> None:
    """A value behind a word such as `expected` in a detail is a leak."""
    assert [1] == [leak.line for leak in find(source)]


@pytest.mark.parametrize("source", CLEAN)
def test_details_that_do_not(source: str) -> None:
    """Counts, types, plain words and what is no detail are none."""
    assert [] == find(source)


def test_findings_of_a_folder(tmp_path: Path) -> None:
    """Each leak names its file and line; what cannot be read is an error; an undeclared or missing verifier is told."""
    leaky = f"x = 1\ndef grade(scratch_dir):\n    return {LEAKY[0]}\n"
    undeclared: dict[str, str | bytes] = {"workspace/verify.py": ""}
    tasks = {
        "a__leaky": make_task(tmp_path, "a__leaky", {"grader/hidden.py": leaky}),
        "a__broken": make_task(tmp_path, "a__broken", {"grader/hidden.py": "def grade(:\n"}),
        "a__undeclared": make_task(tmp_path, "a__undeclared", undeclared),
        "a__missing": make_task(tmp_path, "a__missing", extra="structural_verifier: workspace/verify.py\n"),
        "a__sound": make_task(tmp_path, "a__sound", undeclared, "structural_verifier: workspace/verify.py\n"),
    }
    found = {finding.instance_id: finding for finding in lints(tasks.items())}
    assert {
        "a__leaky": ("LEAK", True), "a__broken": ("ERROR", True), "a__undeclared": ("MISSING_DECLARATION", True),
        "a__missing": ("MISSING_FILE", True), "a__sound": ("PASS", False),
    } == {name: (finding.status, finding.is_bad) for name, finding in found.items()}  # fmt: skip
    assert "hidden.py:3:" in found["a__leaky"].detail
