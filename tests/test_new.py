"""`regrade new`: the skeleton of a task works as it stands."""

import json
import subprocess
import sys

import pytest

from artifact_support import write_files
from regrade import cli
from regrade.formats import artifact
from regrade.formats.artifact.check import check_task
from regrade.inputs import materialize


@pytest.mark.parametrize("name", ["algorithmic__shortest_route", "algorithmic/shortest_route"])
def test_a_skeleton_has_no_finding(tmp_path, capsys, name):
    """Either way of writing the name gives a task that `check` has nothing to say about, not even a warning."""
    assert 0 == cli.main(["new", "artifact", name, "--dir", str(tmp_path)])
    folder = tmp_path / "algorithmic" / "shortest_route"
    assert str(folder) == capsys.readouterr().out.splitlines()[0]
    task = artifact.load(folder)
    assert "algorithmic__shortest_route" == task.id
    assert [] == check_task(task)
    assert ["algorithmic"] == [path.name for path in tmp_path.iterdir()]
    assert ["shortest_route"] == [path.name for path in (tmp_path / "algorithmic").iterdir()]


def test_the_skeletons_verifier_takes_form_alone(tmp_path):
    """It accepts the reference and a wrong artifact of the right form, and refuses a line that is no JSON."""
    cli.main(["new", "artifact", "enumeration__demo", "--dir", str(tmp_path / "tasks")])
    task = artifact.load(tmp_path / "tasks/enumeration/demo")
    out = tmp_path / "out"
    materialize(task, out)
    wrong = '{"customer": "nobody", "total_cents": 1}\n'
    for content, code in ((task.reference.read_text(), 0), (wrong, 0), ("nonsense\n", 1)):
        write_files(out, {task.output_artifact: content})
        assert code == subprocess.run([sys.executable, "verify.py"], cwd=out, capture_output=True).returncode


@pytest.mark.parametrize("gate", ["--positive", "--negative", "--leaks"])
def test_the_skeleton_passes_its_gates(tmp_path, capsys, gate):
    """The reference is accepted, every wrong artifact is rejected, and no detail gives the answer away."""
    cli.main(["new", "artifact", "enumeration__demo", "--dir", str(tmp_path)])
    capsys.readouterr()
    assert 0 == cli.main(["graders", gate, "--tasks-dir", str(tmp_path), "--json"])
    statuses = {json.loads(line)["status"] for line in capsys.readouterr().out.splitlines()}
    assert {"PASS"} == statuses


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("algorithmic", "expected category__slug"),
        ("algorithmic__Demo", "expected category__slug"),
        ("algorithmic/../x", "expected category__slug"),
        ("/algorithmic/x", "expected category__slug"),
        ("algoritmic__x", "unknown category 'algoritmic'"),
    ],
)
def test_a_name_that_cannot_be_one_is_misuse(tmp_path, capsys, name, fragment):
    """It is refused with what was expected, and nothing is written."""
    assert 2 == cli.main(["new", "artifact", name, "--dir", str(tmp_path)])
    assert fragment in capsys.readouterr().err
    assert [] == list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path, capsys):
    """A second task of the same name is refused, and the first stays as it was edited."""
    words = ["new", "artifact", "algorithmic__demo", "--dir", str(tmp_path)]
    assert 0 == cli.main(words)
    prompt = tmp_path / "algorithmic/demo/prompt.md"
    prompt.write_text("mine")
    assert 1 == cli.main(words)
    assert "exists already" in capsys.readouterr().err
    assert "mine" == prompt.read_text()


def test_the_skeleton_of_a_selfbench_task_passes_its_gates(tmp_path, capsys):
    """A definition, two patches and a repository, sound by every check; a name is taken once."""
    assert 0 == cli.main(["new", "selfbench", "first-task", "--dir", str(tmp_path)])
    folder, bundle = tmp_path / "first-task", tmp_path / "repositories/first-task.bundle"
    assert [str(folder), str(bundle)] == capsys.readouterr().out.splitlines()[:2]
    assert 0 == cli.main(["check", str(folder)])
    assert 0 == cli.main(["gates", str(folder), "--repo", str(bundle), "--no-network"])
    assert 1 == cli.main(["new", "selfbench", "first-task", "--dir", str(tmp_path)])
    assert 2 == cli.main(["new", "selfbench", "first task", "--dir", str(tmp_path)])
