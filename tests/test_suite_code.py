"""Changed repositories: what an answer may change, and what its tests must show."""

import json
from pathlib import Path
from typing import Any

import pytest

from regrade.formats.suite import SuiteTask
from regrade.repository_tests import HiddenTest, TestCommand, is_protected, run_hidden, run_visible
from regrade.scorers.suite.assess import assess
from regrade.scorers.suite.scored import Response, Tools
from regrade.scorers.suite.thinking import split_thinking

VECTORS = Path(__file__).parent / "vectors" / "suite"
COMMAND = TestCommand(("{python}", "-m", "pytest", "-q"))
FIXED = "def mean(values):\n    return sum(values) / len(values)\n"
HIDDEN = [
    HiddenTest("tests/test_hidden.py", "from calc import mean\n\ndef test_half():\n    assert mean([1, 2]) == 1.5\n")
]
OURS: dict[str, float | None] = {"repo_patch-002": None, "repo_patch-044": 0.0}
"""Code that is off is not run, which is no zero; a file that shadows pytest reaches no test."""


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / f"{name}.jsonl").read_text().splitlines()]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize("case", cases("repo_patch"), ids=lambda case: case["id"])
def test_patches_are_scored_as_users_know_it(case: dict[str, Any], tmp_path: Path) -> None:
    """Files as JSON or in fences, diffs with and without a fence; one path that is not the answer's spoils all."""
    fixture = write(tmp_path, case["fixture_files"])
    scoring = dict(case["scoring"])
    place = str(fixture) if scoring["repo_fixture"] == "{fixture}" else scoring["repo_fixture"]
    task = SuiteTask("t", "s", {"scoring": {**scoring, "repo_fixture": place}}, fixture=place)
    mode = "off" if case.get("allow_code_exec") is False else "sandboxed"
    found = assess(task, [Response(split_thinking(case["response"])[0])], Tools(mode))
    assert OURS.get(case["id"], case["expected"]["score"]) == found.score
    assert found.passed or found.reason


@pytest.mark.parametrize("case", cases("protected_path"), ids=lambda case: case["response"] or "empty")
def test_paths_of_the_tests_are_protected(case: dict[str, Any]) -> None:
    """In any case, with either slash."""
    assert case["expected"]["protected"] is is_protected(case["response"])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write(tmp_path / "pristine", {
        "calc/__init__.py": "from calc.stats import mean\n",
        "calc/stats.py": "def mean(values):\n    return sum(values) // len(values)\n",
        "tests/test_visible.py": "from calc import mean\n\ndef test_whole():\n    assert mean([2, 4]) == 3\n",
        "conftest.py": "",
    })  # fmt: skip


def left(repository: Path, tmp_path: Path, **files: str) -> Path:
    """A workspace with the fix, and whatever else a model left in it."""
    workspace = tmp_path / "left"
    for path in repository.rglob("*"):
        if path.is_file():
            write(workspace, {str(path.relative_to(repository)): path.read_text()})
    return write(workspace, {"calc/stats.py": FIXED, **files})


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"conftest.py": "raise RuntimeError('broken')"},
        {"tests/test_visible.py": "def test_broken():\n    assert False\n"},
        {"tests/test_mine.py": "def test_mine():\n    assert False\n"},
        {"test_mine.py": "import nothing_like_this\n"},
        {"pytest.ini": "[pytest]\naddopts = --nonsense\n"},
        {"sitecustomize.py": "raise SystemExit(3)\n"},
        {"evil.pth": "import os; os._exit(3)\n"},
    ],
)
def test_honest_work_passes_whatever_lies_beside_it(repository: Path, tmp_path: Path, files: dict[str, str]) -> None:
    """Tests and their configuration are the pristine ones; a model's own tests are neither run nor loaded."""
    assert run_hidden(repository, left(repository, tmp_path, **files), COMMAND, HIDDEN, "sandboxed").passed


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os\nos._exit(0)\n", "forged_result"),
        ("import sys\nsys.exit(0)\n", "tests_failed"),
        ("import pytest\npytest.exit('done', 0)\n", "tests_failed"),
        ("def mean(values):\n    import os\n    os._exit(0)\n", "forged_result"),
        ("def mean(values):\n    raise KeyboardInterrupt\n", "tests_failed"),
        ("def mean(values):\n    return sum(values) // len(values)\n", "tests_failed"),
    ],
)
def test_tests_that_were_not_run_to_their_end_have_not_passed(
    repository: Path, tmp_path: Path, code: str, reason: str
) -> None:
    """Exit code 0 without our own report is a forged result."""
    workspace = left(repository, tmp_path, **{"calc/stats.py": code})
    found = run_hidden(repository, workspace, COMMAND, HIDDEN, "sandboxed")
    assert (False, reason) == (found.passed, found.reason)


def test_a_command_that_names_single_tests_can_score(repository: Path, tmp_path: Path) -> None:
    """The hidden ones are named beside them."""
    command = TestCommand(("{python}", "-m", "pytest", "-q", "tests/test_visible.py"))
    assert run_hidden(repository, left(repository, tmp_path), command, HIDDEN, "sandboxed").passed


def test_visible_tests_are_all_that_a_model_sees(repository: Path, tmp_path: Path) -> None:
    """On a copy, in one bounded line, and nothing of it stays."""
    workspace = left(repository, tmp_path, **{"calc/stats.py": "def mean(values):\n    return 0\n"})
    before = sorted(workspace.rglob("*"))
    found = run_visible(workspace, COMMAND, "sandboxed")
    assert (False, "tests_failed") == (found.passed, found.reason)
    assert "test_visible" in found.output and "\n" not in found.output and len(found.output) <= 1000
    assert before == sorted(workspace.rglob("*"))


def test_a_run_beyond_its_time_says_so(repository: Path, tmp_path: Path) -> None:
    """With the limit that ended it and the seconds that were measured."""
    workspace = left(repository, tmp_path, **{"calc/stats.py": "def mean(values):\n    while True: pass\n"})
    found = run_hidden(repository, workspace, TestCommand(COMMAND.argv, 2), HIDDEN, "sandboxed")
    assert "tests_failed" == found.reason
    assert "stopped by the wall limit after 2." in found.detail
