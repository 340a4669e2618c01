"""Test commands with their selectors in them, and the paths that belong to hidden tests."""

import json
import shlex
import subprocess

import pytest

from regrade import cli
from regrade.formats.selfbench.expansion import command, exclusions, held_out
from selfbench_tasks import added, task, vectors, write_vector

PRINTING = "printf '%s\\0' {tests}"
AWKWARD = [
    "a b",
    "it's",
    '"',
    "$HOME",
    "a$",
    "$$",
    "$&",
    "$`",
    "$'",
    "line\nend",
    "tab\t",
    "\\",
    "*",
    "{tests}",
    "-k",
    "#",
    "ü",
]


def vector_task(row, folder):
    write_vector(folder, row)
    return task(folder, row["testPatch"], None, **row["definitionOverrides"])


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in vectors("expansion")])
def test_vectors(row, tmp_path):
    """Commands for tests that must come to pass, held-out paths and exclusions are those of the format.

    The vectors' `passToPassCommand` shows the first command once more, so that the rule is tested below. Where the
    format's tool takes `$` for something else, bash must see the selectors as they are.
    """
    found = vector_task(row, tmp_path)
    line = command(found.definition, found.definition.fail_to_pass)
    if "referenceDefect" in row:
        [words] = row["correctFailToPassArgv"]
        assert words == shlex.split(line)[1:]
    else:
        assert row["failToPassCommand"] == line
    assert (row["protectedPaths"], row["exclusions"]) == (held_out(found), exclusions(held_out(found)))


def test_bash_sees_each_selector_as_it_is(tmp_path):
    """Blanks, quotes, dollars, line ends: one argument each."""
    selectors = AWKWARD
    definition = task(tmp_path, testCommand=PRINTING, failToPass=selectors).definition
    line = command(definition, definition.fail_to_pass)
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert [*selectors, ""] == done.stdout.decode().split("\0")


def test_no_selector_means_nothing_to_run(tmp_path):
    """The command `true`."""
    assert "true" == command(task(tmp_path).definition, [])


def test_every_placeholder_is_replaced(tmp_path):
    """But none inside a selector."""
    definition = task(tmp_path, testCommand="a {tests} && b {tests}").definition
    assert "a '{tests}' 'x' && b '{tests}' 'x'" == command(definition, ["{tests}", "x"])


def test_the_command_prints_both(tmp_path, capsys):
    """As an object with --json, else a line each."""
    folder = str(task(tmp_path, passToPass=[]).folder)
    assert 0 == cli.main(["expand", "--json", folder])
    commands = {"failToPass": "pytest -q 'tests/test_new.py'", "passToPass": "true"}
    assert commands == json.loads(capsys.readouterr().out)
    assert 0 == cli.main(["expand", folder])
    assert "failToPass: pytest -q 'tests/test_new.py'\npassToPass: true\n" == capsys.readouterr().out


def test_moved_and_quoted_files_are_held_out(tmp_path):
    """Under both names, decoded."""
    move = "diff --git a/tests/a.py b/tests/b.py\nrename from tests/a.py\nrename to tests/b.py\n"
    quoted = 'diff --git "a/tests/\\303\\274.py" "b/tests/\\303\\274.py"\nnew file mode 100644\n'
    found = task(tmp_path, added("z", 1) + move + quoted, testPaths=["tests/x.py"])
    assert ["tests/a.py", "tests/b.py", "tests/x.py", "tests/ü.py", "z"] == held_out(found)
