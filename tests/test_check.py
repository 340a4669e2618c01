"""`regrade check`: what it finds in tasks and sets, and how it ends."""

import json
import os

import pytest

from artifact_support import GRADER, edit, make_generator_task, make_task, write_files
from project import REPOSITORY
from regrade import cli
from regrade.formats import artifact
from regrade.formats.artifact.check import check_task


def found(folder, place=""):
    """(severity, message) of what is found in a task, by the end of the file's path."""
    faults = check_task(artifact.load(folder))
    return [
        (fault.severity, f"{fault.field} {fault.message}".strip()) for fault in faults if fault.path.endswith(place)
    ]


def only(folder, place):
    everything = found(folder)
    [one] = found(folder, place)
    assert [one] == everything
    return one


def test_a_sound_task_has_no_finding(tmp_path):
    """The task that the other tests break has nothing to be said about."""
    assert [] == found(make_task(tmp_path))
    assert [] == found(make_generator_task(tmp_path, "(out / 'x').write_text('x')\n", "algorithmic__two"))


@pytest.mark.parametrize(
    ("files", "place", "severity", "fragment"),
    [
        ({"prompt.md": " \n"}, "prompt.md", "fault", "is empty"),
        ({"prompt.md": b"\xff"}, "prompt.md", "fault", "not UTF-8"),
        ({"prompt.md": "See\ngrader/hidden.py.\n"}, "prompt.md", "warning", "line 2 names 'grader/'"),
        ({"prompt.md": "Write: the answer is 4711\n"}, "prompt.md", "fault", "holds the whole of reference_output.txt"),
        ({"workspace/notes.md": "a\nlike ../grader/x\n"}, "notes.md", "warning", "line 2 names 'grader/'"),
        ({"workspace/a.json": '"reference_output"'}, "a.json", "warning", "names 'reference_output'"),
        (
            {"workspace/copy.txt": "the answer is 4711\n"},
            "copy.txt",
            "fault",
            "the same bytes as grader/reference_output",
        ),
        ({"workspace/hidden.py": "x = 1\n"}, "workspace/hidden.py", "fault", "the grader's name"),
        ({"workspace/reference_output.md": "x"}, "reference_output.md", "fault", "the reference's name"),
        ({"workspace/.workspace_generator_done": "ok\n"}, "_done", "fault", "no such file"),
        ({"workspace/big.bin": bytes(11_000_000)}, "big.bin", "warning", "has 11.0 MB, expected at most 10"),
        ({"workspace/verify.py": "x = 1\n"}, "task.yaml", "fault", "structural_verifier missing"),
        ({"grader/reference_output.txt": ""}, "reference_output.txt", "warning", "is empty"),
        ({"grader/hidden.py": "def grade(:\n"}, "hidden.py", "fault", "line 1 is not valid Python"),
        ({"grader/hidden.py": "x = '\0'\n"}, "hidden.py", "fault", "is not valid Python"),
        ({"grader/hidden.py": "def verdict(folder): ...\n"}, "hidden.py", "fault", "defines no grade"),
        ({"grader/hidden.py": "def grade(): ...\n"}, "hidden.py", "fault", "grade(scratch_dir)"),
        ({"grader/hidden.py": "async def grade(folder): ...\n"}, "hidden.py", "fault", "is async"),
        ({"grader/negative_cases.py": "NEGATIVE_CASES = [\n"}, "negative_cases.py", "fault", "not valid Python"),
    ],
)
def test_a_finding_names_file_and_reason(tmp_path, files, place, severity, fragment):
    """Each of these is the task's only finding, as a fault or as a warning."""
    level, message = only(make_task(tmp_path, files=files), place)
    assert severity == level
    assert fragment in message


@pytest.mark.parametrize(
    ("line", "severity", "fragment"),
    [
        ("import time; time.time()", "fault", "time.time() reads the clock"),
        ("from time import time as now; now()", "fault", "time.time() reads the clock"),
        ("import datetime as d; d.datetime.now()", "fault", "datetime.datetime.now() reads the clock"),
        ("from datetime import date; date.today()", "fault", "datetime.date.today() reads the clock"),
        ("import time; time.perf_counter()", "warning", "reads a timer"),
        ("import time", "warning", "imports time"),
        ("import random", "warning", "imports random"),
        ("import random; random.random()", "fault", "random.random() is not seeded"),
        ("from random import shuffle; shuffle([1])", "fault", "random.shuffle() is not seeded"),
        ("import random; random.Random()", "fault", "random.Random() has no seed"),
        ("import numpy as np; np.random.rand(3)", "fault", "numpy.random.rand() is not seeded"),
        ("import os; os.urandom(8)", "fault", "os.urandom() differs"),
        ("import socket", "fault", "imports socket"),
        ("import requests", "fault", "imports requests"),
        ("from urllib import request", "fault", "imports urllib.request"),
        ("from http.client import HTTPConnection", "fault", "imports http.client"),
        ("import subprocess", "warning", "imports subprocess"),
        ("OTHER = 'algorithmic__other'", "warning", "names the id 'algorithmic__other'"),
    ],
)
def test_what_a_grader_must_not_depend_on(tmp_path, line, severity, fragment):
    """Clock, random numbers and network are found by name, in any file of the grader's folder."""
    for name, content in (("hidden.py", f"{line}\n{GRADER}"), ("helper.py", f"{line}\n")):
        folder = make_task(tmp_path / name, files={f"grader/{name}": content})
        level, message = only(folder, name)
        assert severity == level
        assert message.startswith("line 1 ")
        assert fragment in message


@pytest.mark.parametrize(
    "line",
    [
        "import random; random.Random(7).random()",
        "import random; random.seed(7); random.random()",
        "import numpy as np; np.random.default_rng(7)",
        "from datetime import datetime; datetime.fromisoformat('2026-01-01')",
        "from urllib.parse import urlsplit",
        "OWN = 'algorithmic__demo'",
    ],
)
def test_what_a_grader_may_use(tmp_path, line):
    """Seeded random numbers, dates that are data and parsing of addresses are nothing to report."""
    assert [] == found(make_task(tmp_path, files={"grader/hidden.py": f"{line}\n{GRADER}"}))


def test_a_generator_needs_the_standard_library_alone(tmp_path):
    """A third-party import is a fault, a module beside it is not; its own text may name the reference."""
    code = "import helper\nREFERENCE = 'reference_output'\n"
    good = make_generator_task(tmp_path / "good", code, **{"workspace/helper.py": "x = 1\n"})
    assert [] == found(good)
    bad = make_generator_task(tmp_path / "bad", "import pandas\n")
    assert "imports 'pandas'" in only(bad, "generator.py")[1]
    broken = make_generator_task(tmp_path / "broken", "def\n")
    assert "not valid Python" in only(broken, "generator.py")[1]


def test_a_verifier_outside_the_workspace_is_warned_of(tmp_path):
    """It is declared, but no agent gets it."""
    folder = make_task(tmp_path, files={"verify.py": "x = 1\n"}, extra="structural_verifier: verify.py\n")
    assert "warning" == only(folder, "task.yaml")[0]
    edit(folder, "structural_verifier: verify.py\n", "structural_verifier: workspace/verify.py\n")
    write_files(folder, {"workspace/verify.py": "x =\n"})
    assert "not valid Python" in only(folder, "verify.py")[1]


def test_odd_things_among_the_inputs_are_faults(tmp_path):
    """A link that leaves the workspace and a fifo are found without being read."""
    folder = make_task(tmp_path)
    (folder / "workspace/out").symlink_to("../grader")
    assert "leaves the folder" in only(folder, "workspace/out")[1]
    (folder / "workspace/out").unlink()
    os.mkfifo(folder / "workspace/pipe")
    assert "neither a file nor a folder" in only(folder, "workspace/pipe")[1]


def test_a_graders_helper_that_is_a_link_out_is_a_fault(tmp_path):
    """Its content would change without anybody being graded again."""
    folder = make_task(tmp_path / "tasks")
    write_files(tmp_path, {"shared.py": "x = 1\n"})
    (folder / "grader/shared.py").symlink_to(tmp_path / "shared.py")
    assert "leaves the task's folder" in only(folder, "grader/shared.py")[1]


def test_many_megabytes_together_are_warned_of(tmp_path):
    """Six files of 9 MB are each small enough, but not together."""
    folder = make_task(tmp_path)
    for number in range(6):
        with (folder / f"workspace/{number}.bin").open("wb") as stream:
            stream.truncate(9_000_000)
    assert "holds 54.0 MB" in only(folder, "workspace")[1]


def check(capsys, *words):
    code = cli.main(["check", *map(str, words)])
    return code, capsys.readouterr()


def test_every_kind_of_path_is_taken(tmp_path, capsys):
    """A task's folder or manifest, a category, a folder of tasks, a set, and a tree with all of them."""
    folder = make_task(tmp_path / "tasks")
    write_files(tmp_path, {"sets/demo.txt": "algorithmic__demo\n"})
    for path in (folder, folder / "task.yaml", folder.parent, tmp_path / "tasks"):
        code, output = check(capsys, path)
        assert (0, "", "checked: 1 tasks, 0 sets, 0 faults, 0 warnings\n") == (code, output.out, output.err)
    code, output = check(capsys, tmp_path / "sets/demo.txt", "--tasks-dir", tmp_path / "tasks")
    assert (0, "checked: 0 tasks, 1 sets, 0 faults, 0 warnings\n") == (code, output.err)
    code, output = check(capsys, tmp_path, "--tasks-dir", tmp_path / "tasks")
    assert (0, "checked: 1 tasks, 1 sets, 0 faults, 0 warnings\n") == (code, output.err)


def test_a_line_for_each_fault_of_every_manifest(tmp_path, capsys):
    """Faults of three tasks and a set stand in one output, `path: field: message`, and the exit code is 1."""
    first, second = make_task(tmp_path, "algorithmic__a"), make_task(tmp_path, "algorithmic__b")
    edit(first, "difficulty: easy", "difficulty: odd\ncolour: red")
    (second / "task.yaml").write_text("a: [\n")
    write_files(make_task(tmp_path, "enumeration__c"), {"prompt.md": ""})
    write_files(tmp_path, {"sets/x.txt": "algorithmic__zz\n"})
    code, output = check(capsys, tmp_path, tmp_path / "sets/x.txt", "--tasks-dir", tmp_path)
    lines = output.out.splitlines()
    assert (1, 5) == (code, len(lines))
    assert any(line.startswith(f"{first}/task.yaml: colour: unknown field") for line in lines)
    assert any(line.startswith(f"{first}/task.yaml: difficulty: difficulty must be") for line in lines)
    assert any(line.startswith(f"{second}/task.yaml: line 2: ") for line in lines)
    assert any(line.startswith(f"{tmp_path}/enumeration/c/prompt.md: is empty") for line in lines)
    assert any(line.startswith(f"{tmp_path}/sets/x.txt: line 1: unknown id") for line in lines)


def test_json_has_an_object_a_line(tmp_path, capsys):
    """`--json` prints path, field, message and severity; a warning alone ends with 0."""
    folder = make_task(tmp_path, files={"prompt.md": "Leave grader/ alone.\n"})
    code, output = check(capsys, folder, "--json")
    [row] = map(json.loads, output.out.splitlines())
    assert (0, "warning", "line 1", f"{folder}/prompt.md") == (code, row["severity"], row["field"], row["path"])
    assert {"path", "field", "message", "severity"} == set(row)


def test_two_tasks_with_one_id_are_named(tmp_path, capsys):
    """The fault has both manifests."""
    first, second = make_task(tmp_path, "algorithmic__a"), make_task(tmp_path, "algorithmic__b")
    (second / "task.yaml").write_text((first / "task.yaml").read_text())
    code, output = check(capsys, tmp_path)
    assert 1 == code
    assert f"duplicate id 'algorithmic__a', also in {first}/task.yaml" in output.out


def test_a_task_without_a_manifest_is_found(tmp_path, capsys):
    """A folder with a grader but no task.yaml is a fault and not overlooked."""
    folder = make_task(tmp_path)
    (folder / "task.yaml").unlink()
    code, output = check(capsys, tmp_path)
    assert (1, f"{folder}/task.yaml: cannot be read: No such file or directory\n") == (code, output.out)


def test_a_path_without_anything_to_check_is_misuse(tmp_path, capsys):
    """A missing path, an empty folder and a file of another kind end with 2."""
    write_files(tmp_path, {"full/readme.md": "x"})
    (tmp_path / "empty").mkdir()
    for path, fragment in (
        ("nowhere", "does not exist"),
        ("empty", "No matching tasks"),
        ("full/readme.md", "neither"),
    ):
        code, output = check(capsys, tmp_path / path)
        assert 2 == code
        assert fragment in output.err


def test_sets_may_name_tasks_of_all_formats(capsys):
    """The sets that are shipped are sound: each id is found in its format."""
    folders = {"tasks": "problems/artifact", "packs": "benchpacks", "suites": "problems/suites"}
    folders["selfbench"] = "problems/selfbench"
    places = [str(word) for name, place in folders.items() for word in (f"--{name}-dir", REPOSITORY / place)]
    code, output = check(capsys, REPOSITORY / "sets", *places)
    assert (0, "", True) == (code, output.out, "0 faults" in output.err)
