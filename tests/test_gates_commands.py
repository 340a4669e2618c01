"""`regrade graders`, `regrade grade` and the page of a set's checks, as commands."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from artifact_support import GRADER, edit, make_task, write_files
from regrade.config import CATEGORIES, LIMITS

LENIENT = GRADER.replace('== b"the answer is 4711\\n"', '!= b"0"')


def regrade(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The command's end, with both streams."""
    return subprocess.run([sys.executable, "-m", "regrade.cli", *map(str, words)], capture_output=True, text=True)


def rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    """The JSON lines of its output."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_positive_lines(tmp_path: Path) -> None:
    """One JSON object a task, sorted by id; exit code 1 as soon as one grader does not hold."""
    make_task(tmp_path, "enumeration__two")
    make_task(tmp_path, "algorithmic__one")
    done = regrade("graders", "--positive", "--tasks-dir", tmp_path, "--json", "--jobs", "2")
    expected = [
        {"instance_id": name, "status": "PASS", "score": 1.0, "detail": "compared"}
        for name in ("algorithmic__one", "enumeration__two")
    ]
    assert (0, expected) == (done.returncode, rows(done))
    make_task(tmp_path, "algorithmic__one", {"grader/reference_output.txt": "wrong\n"})
    done = regrade("graders", "--positive", "--tasks-dir", tmp_path, "--json")
    assert (1, ["FAIL", "PASS"]) == (done.returncode, [row["status"] for row in rows(done)])
    done = regrade("graders", "--positive", "--tasks-dir", tmp_path, "--filter", "enumeration__two")
    assert (0, 2) == (done.returncode, len(done.stdout.splitlines()))
    assert "1 PASS, 0 FAIL, 0 ERROR" == done.stdout.splitlines()[-1]


def test_negative_lines(tmp_path: Path) -> None:
    """One JSON object a case; weak misses alone end with 0, a miss of an own case with 1."""
    make_task(tmp_path, files={"grader/hidden.py": LENIENT})
    done = regrade("graders", "--negative", "--tasks-dir", tmp_path, "--json")
    assert 0 == done.returncode, done.stderr
    first = {"instance_id": "algorithmic__demo", "case": "empty", "status": "WEAK_MISS", "detail": "accepted: compared"}
    assert (6, first) == (len(rows(done)), rows(done)[0])
    cases = "from swebench.artifact_negative import default_negative_cases\nNEGATIVE_CASES = default_negative_cases()\n"
    make_task(tmp_path, files={"grader/hidden.py": LENIENT, "grader/negative_cases.py": cases})
    done = regrade("graders", "--negative", "--tasks-dir", tmp_path)
    assert 1 == done.returncode
    assert "0 PASS, 6 MISS, 0 WEAK_MISS, 0 WRONG_REASON, 0 EXPECTED_MISS, 0 ERROR" == done.stdout.splitlines()[-1]


def test_leak_lines(tmp_path: Path) -> None:
    """A leak ends with 1, a clean folder with 0."""
    make_task(tmp_path)
    assert 0 == regrade("graders", "--leaks", "--tasks-dir", tmp_path).returncode
    leaky = 'def grade(scratch_dir):\n    return GradeResult(False, 0.0, f"expected {answer}")\n'
    make_task(tmp_path, files={"grader/hidden.py": leaky})
    done = regrade("graders", "--leaks", "--tasks-dir", tmp_path, "--json")
    assert (1, ["LEAK"]) == (done.returncode, [row["status"] for row in rows(done)])


@pytest.mark.parametrize("gate", ["--positive", "--negative", "--leaks"])
def test_folder_without_a_task(tmp_path: Path, gate: str) -> None:
    """A folder that holds no task, or not the one that was asked for, is misuse."""
    done = regrade("graders", gate, "--tasks-dir", tmp_path)
    assert (2, "") == (done.returncode, done.stdout)
    assert "No matching tasks" in done.stderr
    make_task(tmp_path)
    done = regrade("graders", gate, "--tasks-dir", tmp_path, "--filter", "algorithmic__demos")
    assert 2 == done.returncode
    assert "did you mean 'algorithmic__demo'" in done.stderr


def test_faulty_task_stops_only_who_needs_it(tmp_path: Path) -> None:
    """A manifest that does not load ends with 2 and its faults, unless other tasks were asked for."""
    edit(make_task(tmp_path, "algorithmic__bad"), "difficulty: easy", "difficulty: tricky")
    make_task(tmp_path, "algorithmic__good")
    done = regrade("graders", "--positive", "--tasks-dir", tmp_path)
    assert 2 == done.returncode
    assert "difficulty" in done.stderr
    assert 0 == regrade("graders", "--positive", "--tasks-dir", tmp_path, "--filter", "algorithmic__good").returncode


def test_foreign_words_are_escaped(tmp_path: Path) -> None:
    """What a grader says cannot move the cursor or add lines."""
    grader = GRADER.replace('"compared"', '"a\\n\\x1b[31mPASS"')
    make_task(tmp_path, files={"grader/hidden.py": grader})
    done = regrade("graders", "--positive", "--tasks-dir", tmp_path)
    assert "PASS          algorithmic__demo  a\\n\\x1b[31mPASS" == done.stdout.splitlines()[0]


def test_grade_a_workspace(tmp_path: Path) -> None:
    """One JSON object, exit code 0 whatever the verdict, and the task's inputs are pristine for the grader."""
    grader = GRADER.replace("return", "assert (scratch_dir / 'data.csv').read_text() == 'a,b\\n1,2\\n'\n    return")
    task = make_task(tmp_path / "tasks", files={"grader/hidden.py": grader})
    workspace = tmp_path / "workspace"
    write_files(workspace, {"data.csv": "changed", "output/answer.txt": "the answer is 4711\n"})
    done = regrade("grade", task, workspace)
    assert 0 == done.returncode, done.stderr
    verdict = json.loads(done.stdout)
    expected = {"passed": True, "score": 1.0, "detail": "compared", "status": "passed", "reason": ""}
    assert expected == {name: verdict[name] for name in expected}
    write_files(workspace, {"output/answer.txt": "no"})
    done = regrade("grade", task, workspace)
    assert (0, "wrong_answer") == (done.returncode, json.loads(done.stdout)["reason"])
    assert "changed" == (workspace / "data.csv").read_text()


def test_grade_with_a_broken_grader_or_misuse(tmp_path: Path) -> None:
    """No verdict is exit code 1 with what broke; no task or no workspace is misuse."""
    task = make_task(tmp_path / "tasks", files={"grader/hidden.py": "def grade(scratch_dir):\n    return 1\n"})
    write_files(tmp_path / "workspace", {"output/answer.txt": "x"})
    done = regrade("grade", task, tmp_path / "workspace")
    verdict = json.loads(done.stdout)
    assert (1, "error", "grader_error", None) == (
        done.returncode, verdict["status"], verdict["reason"], verdict["passed"],
    )  # fmt: skip
    assert 2 == regrade("grade", task, tmp_path / "nowhere").returncode
    assert 2 == regrade("grade", tmp_path, tmp_path / "workspace").returncode


def test_page_of_a_set(tmp_path: Path) -> None:
    """The page has a section for each gate, and is written whatever the findings."""
    good = make_task(tmp_path, "algorithmic__good")
    bad = make_task(tmp_path, "algorithmic__bad", {"grader/hidden.py": "def grade(scratch_dir):\n    return '|'\n"})
    spec = {"title": "mine", "tasks": [str(bad), str(good)], "sandbox": "bubblewrap"}
    spec |= {"categories": CATEGORIES, "limits": LIMITS}
    words = [sys.executable, "-m", "regrade.gates", json.dumps(spec), tmp_path / "mine.md", "2"]
    subprocess.run(words, check=True)
    page = (tmp_path / "mine.md").read_text()
    assert 3 == page.count("\n## ")
    assert "| algorithmic__good | PASS | compared |" in page
    assert "| algorithmic__good |  | PASS | 6 wrong artifacts rejected |" in page
    assert "**7 findings need work.**" in page
    assert "str '\\|'" in page
