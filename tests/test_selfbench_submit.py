"""Handing in SelfBench tasks."""

import json
import os

import pytest

from regrade import cli
from selfbench_tasks import definition, vectors, write

VECTORS = {row["id"]: row for row in vectors("submitTool")}


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The output root."""
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.setenv("SELFBENCH_TASK_OUTPUT", str(folder))
    return folder


@pytest.fixture
def hand_in(tmp_path, capsys):
    """Write a task and hand it in: the exit code, stdout, stderr."""

    def run(*options, leave_out="", **changes):
        folder = write(tmp_path / "task", **changes)
        files = {"--definition": "definition.json", "--test-patch": "test.patch", "--gold-patch": "gold.patch"}
        pairs = [[name, str(folder / file)] for name, file in files.items() if name != leave_out]
        code = cli.main(["submit", *(word for pair in pairs for word in pair), *options])
        printed = capsys.readouterr()
        return code, printed.out.strip(), printed.err.strip()

    return run


def test_the_first_vector(root, hand_in, tmp_path):
    """Three files in a folder of the task's own: the definition pretty-printed, the patches to the byte."""
    row = VECTORS["ok"]
    assert (0, row["text"], "") == hand_in()
    folder = root / "calc-pr-7"
    assert row["files"] == sorted(os.listdir(folder))
    assert row["definitionText"] == (folder / "definition.json").read_text()
    for name in ("test.patch", "gold.patch"):
        assert (tmp_path / "task" / name).read_bytes() == (folder / name).read_bytes()


def test_a_second_one_of_the_same_id_is_refused(root, hand_in):
    """And leaves the first as it is."""
    hand_in()
    before = (root / "calc-pr-7" / "definition.json").read_bytes()
    message = VECTORS["second.same.id"]["error"].replace("$ROOT", str(root))
    assert (1, "", message) == hand_in(prompt="other")
    assert before == (root / "calc-pr-7" / "definition.json").read_bytes()


def test_the_root_has_to_be_there(root, hand_in, monkeypatch):
    """Nothing is made above the task's folder."""
    monkeypatch.setenv("SELFBENCH_TASK_OUTPUT", str(root / "nope"))
    message = VECTORS["missing.root"]["error"].replace("$ROOT/nope/c", f"{root}/nope/calc-pr-7")
    assert (1, "", message) == hand_in()
    assert [] == list(root.iterdir())


@pytest.mark.parametrize("value", [None, ""])
def test_the_root_has_to_be_named(value, hand_in, monkeypatch):
    """By the variable."""
    monkeypatch.delenv("SELFBENCH_TASK_OUTPUT", raising=False)
    if value is not None:
        monkeypatch.setenv("SELFBENCH_TASK_OUTPUT", value)
    assert (1, "", "SELFBENCH_TASK_OUTPUT is not configured") == hand_in()


@pytest.mark.parametrize(
    "options",
    [
        {"leave_out": "--gold-patch"},
        {"leave_out": "--test-patch"},
        {"gold_patch": ""},
        {"taskId": ""},
        {"taskId": None},
    ],
)
def test_an_incomplete_task(options, root, hand_in):
    """No id, or a patch that is missing or empty."""
    assert (1, "", VECTORS["no.gold"]["error"]) == hand_in(**options)
    assert [] == list(root.iterdir())


def test_a_second_task_beside_it_is_one_too_many(root, hand_in):
    """It is written, and the command ends with 1."""
    hand_in()
    message = "authoring must produce exactly one task; found 2"
    assert (1, "Submitted other.", message) == hand_in(taskId="other")
    assert ["calc-pr-7", "other"] == sorted(os.listdir(root))


@pytest.mark.parametrize(
    ("option", "good", "bad"),
    [
        ("--expect-pr", "7", "8"),
        ("--expect-commit", definition()["baseCommit"], "f" * 40),
        ("--expect-difficulty", "easy", "hard"),
    ],
)
def test_a_task_has_to_be_the_one_that_was_assigned(option, good, bad, root, hand_in):
    """In its pull request, its commit and its difficulty."""
    message = "authored task does not match its assigned PR, base commit, and difficulty"
    assert (1, "", message) == hand_in(option, bad)
    assert [] == list(root.iterdir())
    assert 0 == hand_in(option, good)[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extra": 1}, "definition.json: extra: unknown key"),
        ({"sourceUrl": "example.com"}, 'sourceUrl: is "example.com", expected an absolute URL'),
        ({"workdir": ".."}, "task path escapes repository: .."),
        ({"test_patch": "--- a/x\n"}, "test.patch is not a Git patch"),
    ],
)
def test_a_faulty_task_is_not_written(changes, message, root, hand_in):
    """The faults are those that `check` names."""
    code, out, err = hand_in(**changes)
    assert (1, "", True) == (code, out, message in err)
    assert [] == list(root.iterdir())


def test_secrets_are_warned_of_and_the_files_stay_as_they_are(root, hand_in):
    """A patch that somebody changed would not apply."""
    secret = "ghp_" + "a" * 20
    code, _, err = hand_in(prompt=f"Use {secret}.")
    warning = "definition.json: warning: holds what looks like a token of GitHub: take it out before the task is shared"
    assert (0, warning) == (code, err)
    assert f"Use {secret}." == json.loads((root / "calc-pr-7" / "definition.json").read_text())["prompt"]
