"""The type repo_patch: in which forms an answer changes a repository, and what it may not change."""

import json
from pathlib import Path
from typing import Any

import pytest

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite.assess import Assessed, assess
from regrade.scorers.suite.scored import Response, Tools
from regrade.scorers.suite.thinking import split_thinking
from suite_structured_support import expected, vector, vectors, verdict

RIGHT, WRONG = (1.0, True), (0.0, False)
OURS = {
    "repo_patch-002": (None, None),
    "repo_patch-043": RIGHT,
    "repo_patch-044": WRONG,
    "repo_patch-045": RIGHT,
    "repo_patch-051": WRONG,
}
"""What we say where the vectors ask for a decision; -002 yields, as code that is off gets no zero."""

KNOWN = vectors("repo_patch", OURS)
COMMAND = ["{python}", "-m", "pytest", "-q"]
BROKEN = "def mean(values):\n    return sum(values) // len(values)\n"
FIXED = "def mean(values):\n    return sum(values) / len(values)\n"
DIFF = f"""diff --git a/calc/stats.py b/calc/stats.py
--- a/calc/stats.py
+++ b/calc/stats.py
@@ -1,2 +1,2 @@
 def mean(values):
-{BROKEN.splitlines()[1]}
+{FIXED.splitlines()[1]}
"""
HIDDEN = {
    "path": "tests/test_hidden.py",
    "content": "from calc.stats import mean\n\ndef test_half():\n    assert mean([1, 2]) == 1.5\n",
}
REPOSITORY = {
    "calc/__init__.py": "",
    "calc/stats.py": BROKEN,
    "README.md": "# Calc\n",
    "tests/test_stats.py": "from calc.stats import mean\n\ndef test_whole():\n    assert mean([2, 4]) == 3\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def score(fixture: Path, answer: str, mode: str = "sandboxed", **scoring: Any) -> Assessed:
    """The verdict on an answer about a repository."""
    table = {"type": "repo_patch", "test_command": COMMAND, "hidden_tests": [HIDDEN], **scoring}
    task = SuiteTask("t", "s", {"scoring": {"repo_fixture": str(fixture), **table}})
    return assess(task, [Response(*split_thinking(answer))], Tools(mode))


def scored(case: dict[str, Any], folder: Path) -> Assessed:
    """The verdict on a vector's answer."""
    fixture = write(folder, case["fixture_files"])
    scoring = {name: value for name, value in case["scoring"].items() if name != "repo_fixture"}
    place = str(fixture) if case["scoring"]["repo_fixture"] == "{fixture}" else case["scoring"]["repo_fixture"]
    mode = "off" if case.get("allow_code_exec") is False else "sandboxed"
    return score(Path(place), case["response"], mode, **scoring)


@pytest.mark.parametrize("identifier", KNOWN)
def test_known_answers(identifier: str, tmp_path: Path) -> None:
    """Every vector that asks for no decision holds."""
    assert expected(KNOWN[identifier]) == verdict(scored(KNOWN[identifier], tmp_path))


@pytest.mark.parametrize("identifier", OURS)
def test_our_decisions(identifier: str, tmp_path: Path) -> None:
    """Where the format's tool surprises, this is what we say."""
    assert OURS[identifier] == verdict(scored(vector("repo_patch", identifier), tmp_path))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write(tmp_path / "repository", REPOSITORY)


def files(**changed: str) -> str:
    return json.dumps({"files": changed})


@pytest.mark.parametrize(
    "answer",
    [
        files(**{"calc/stats.py": FIXED}),
        f"I change one file.\n```json\n{files(**{'./calc/stats.py': FIXED})}\n```\nDone.",
        f'```python path=calc/stats.py\n{FIXED}```\nand\n```md path="NOTES.md"\nSee:\n  ```\n  x\n  ```\n```',
        f"```py title=fix path='calc/stats.py'\n{FIXED}",
        f"```diff\n{DIFF}```",
        f"Here:\n\n```diff \n{DIFF}```\n",
        f"```\n{DIFF}```",
        f"```diff\n{DIFF.replace('-1,2 +1,2', '-1,9 +1,9')}```",
        DIFF,
        DIFF.removeprefix("diff --git a/calc/stats.py b/calc/stats.py\n"),
        f"```diff\n{DIFF}",
    ],
    ids=[
        "json",
        "fenced json",
        "paths",
        "open path",
        "diff",
        "blank",
        "no label",
        "counts",
        "bare",
        "plain",
        "open diff",
    ],
)
def test_forms_of_answers(repository: Path, answer: str) -> None:
    """Files as JSON or in fences, and diffs with and without a fence."""
    found = score(repository, answer)
    assert RIGHT == verdict(found), found.detail


@pytest.mark.parametrize(
    ("answer", "reason", "words"),
    [
        ("", "no_response", "neither files nor a diff"),
        ("I would divide.", "invalid_format", "neither files nor a diff"),
        ("```diff\n```", "empty_patch", "empty"),
        (files(), "empty_patch", "no file"),
        (files(**{"calc/stats.py": BROKEN}), "empty_patch", "as it was"),
        (f"{files(**{'../x.py': '', 'calc/stats.py': FIXED})}", "patch_rejected", "'../x.py' leads out"),
        (files(**{"/etc/x": ""}), "patch_rejected", "'/etc/x' leads out"),
        (files(**{".git/hooks/pre-commit": ""}), "patch_rejected", "leads out"),
        (files(**{"a\\..\\..\\x.py": ""}), "patch_rejected", "leads out"),
        (files(**{"": "x"}), "patch_rejected", "no name of a file"),
        (files(**{"a/" * 100 + "x.py": "x"}), "patch_rejected", "no name of a file"),
        (files(**{"x" * 300: "x"}), "patch_rejected", "is not a file name"),
        (files(calc="x"), "patch_rejected", "is a folder"),
        (files(**{"calc/stats.py/x.py": "x"}), "patch_rejected", "not a folder"),
        (files(**{"calc/stats.py": FIXED, "evil.pth": "import os"}), "patch_rejected", "evil.pth belongs to the tests"),
        (f"```py path=x/conftest.py\n```\n```py path=calc/stats.py\n{FIXED}```", "patch_rejected", "x/conftest.py"),
        (DIFF.replace("calc/stats.py", "tests/test_stats.py"), "patch_rejected", "could not be applied"),
        (DIFF.replace("calc/stats.py", "../stats.py"), "patch_rejected", "path escapes workspace"),
        (DIFF.replace("def mean", "def median"), "patch_rejected", "could not be applied"),
        ('{"files": {"calc/stats.py": ["x"]}}', "invalid_format", "calc/stats.py is ['x'], expected"),
        ("--- a/" + "a/" * 200 + "x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "patch_rejected", "folders deep"),
    ],
)
def test_answers_that_change_nothing(repository: Path, answer: str, reason: str, words: str) -> None:
    """Each says why, and names the path."""
    found = score(repository, answer)
    assert (0.0, reason) == (found.score, found.reason)
    assert words in found.detail


@pytest.mark.parametrize(
    "change",
    [
        "--- a/tests/test_stats.py\n+++ /dev/null\n@@ -1,4 +0,0 @@\n"
        "-from calc.stats import mean\n-\n-def test_whole():\n-    assert mean([2, 4]) == 3\n",
        "diff --git a/tests/test_stats.py b/old.py\nsimilarity index 100%\n"
        "rename from tests/test_stats.py\nrename to old.py\n",
        "--- /dev/null\n+++ b/tests/test_more.py\n@@ -0,0 +1 @@\n+x = 1\n",
        "--- /dev/null\n+++ b/tox.ini\n@@ -0,0 +1 @@\n+[pytest]\n",
    ],
    ids=["deleted", "renamed", "added", "configured"],
)
def test_a_diff_that_touches_tests_is_refused_whole(repository: Path, change: str) -> None:
    """By whatever the copy shows, not by its headers."""
    found = score(repository, f"```diff\n{DIFF}{change}```")
    assert (0.0, "patch_rejected") == (found.score, found.reason)
    assert "belongs to the tests" in found.detail
    assert REPOSITORY["tests/test_stats.py"] == (repository / "tests/test_stats.py").read_text()


@pytest.mark.parametrize(
    "answer",
    [
        "{" * 100_000,
        '{"files":' * 20_000,
        "```x path=a\n" * 100_000,
        "```\n" * 300_000,
        f"```diff\n{DIFF}{'+y' + chr(10) + ''}" * 2_000,
        '{"files": {"a\ud800.py": "x"}}',
        '{"files": {"a.py": "\ud800\\u0000"}}',
        "--- a/\0\n+++ b/\0\n@@ -1 +1 @@\n-a\n+b\n",
        "@@ -99999999999999999999,1 +1 @@",
        "--- a/x\n+++ b/x\n@@ -99999999999999999999,1 +1 @@\n-a\n+b\n",
    ],
    ids=["braces", "nested", "paths", "fences", "diffs", "name", "content", "null", "hunk", "number"],
)
def test_no_answer_makes_the_scorer_fail(repository: Path, answer: str) -> None:
    """Whatever a model writes is data."""
    found = score(repository, answer)
    assert ("failed", 0.0) == (found.status, found.score)


def test_the_fixture_stays_as_it_is(repository: Path) -> None:
    """Neither the answer nor the tests write to it; caches and git's folder are no part of what is tested."""
    write(repository, {".git/config": "secret", "calc/__pycache__/x.pyc": "", ".pytest_cache/v": ""})
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    fix = FIXED + "import os\nassert not {'.git', '.pytest_cache'} & set(os.listdir())\nopen('calc/stats.py', 'w')\n"
    assert RIGHT == verdict(score(repository, files(**{"calc/stats.py": fix})))
    assert before == {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}


def test_a_broken_task_is_told_from_a_wrong_answer(repository: Path) -> None:
    """Its detail says what the task lacks."""
    fix = files(**{"calc/stats.py": FIXED})
    assert "is no folder" in score(repository / "none", fix).detail
    assert "expected a path and a content" in score(repository, fix, hidden_tests=[{"path": "tests/x.py"}]).detail
    assert "expected a list of words with pytest" in score(repository, fix, test_command=["make"]).detail


def test_what_held_is_in_the_record(repository: Path) -> None:
    """The sandbox and its bounds, and that code under test shared a process with the tests."""
    about = score(repository, files(**{"calc/stats.py": FIXED})).about
    assert {"no network", "wall", "cpu"} <= set(about["sandbox"]["bounds"])
    assert about["in_process"] is True
