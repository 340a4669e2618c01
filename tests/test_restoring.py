"""What is put back before tests judge: held-out paths, test files, what configures the runners, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest

from harbor_support import write
from regrade.repository_tests.restoring.imports import takes_over
from regrade.repository_tests.restoring.names import is_runner_file
from regrade.repository_tests.restoring.trees import CannotRestoreError, restore

BASE = {
    "src/app.py": "print(1)\n",
    "tests/test_old.py": "old\n",
    "tests/helpers.py": "helpers\n",
    "lib/parse.spec.ts": "spec\n",
    "jest.config.js": "jest\n",
    "pyproject.toml": '[project]\nname = "a"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.ruff]\nline = 1\n',
    "setup.cfg": "[metadata]\nname = a\n\n[tool:pytest]\naddopts = -q\n",
    "package.json": json.dumps({"scripts": {"build": "tsc", "test": "node --test"}, "dependencies": {}}),
}


class Trees:
    """A pristine tree and one that somebody worked in."""

    def __init__(self, folder: Path) -> None:
        self.pristine, self.tree = write(folder / "pristine", dict(BASE)), write(folder / "tree", dict(BASE))

    def restore(self, changed: dict[str, str | None], tests: tuple[str, ...] = (), **given: Any) -> list[str]:
        """Make changes, and put back what has to be."""
        write(self.tree, changed)
        return restore(self.pristine, self.tree, changed, tests, **given)

    def text(self, name: str) -> str:
        return (self.tree / name).read_text()


@pytest.fixture
def trees(tmp_path: Path) -> Trees:
    return Trees(tmp_path)


def test_work_stays(trees: Trees) -> None:
    """Changes to code, to other tests and to dependencies are nobody's business here."""
    changed = {"src/app.py": "print(2)\n", "lib/parse.spec.ts": "mine\n", "src/new_test.py": "mine\n"}
    assert [] == trees.restore(dict(changed), ("tests/test_old.py",))
    assert changed == {name: trees.text(name) for name in changed}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("tests/test_old.py", ["tests/helpers.py", "tests/test_old.py"]),
        ("tests/test_old.py::test_a[x]", ["tests/helpers.py", "tests/test_old.py"]),
        ("./tests/test_old.py:12", ["tests/helpers.py", "tests/test_old.py"]),
        ("tests.test_old.Case.test_a", ["tests/helpers.py", "tests/test_old.py"]),
        ("tests", ["tests/helpers.py", "tests/test_old.py"]),
        ("./lib/...", ["lib/parse.spec.ts"]),
        ("lib/parse.spec.ts", ["lib/parse.spec.ts"]),
        ("^TestParse$", ["lib/parse.spec.ts", "tests/helpers.py", "tests/test_old.py"]),
    ],
)
def test_files_of_selectors(trees: Trees, selector: str, expected: list[str]) -> None:
    """A selector's file is put back, with what lies in its folder of tests; a bare name may be any test."""
    changed = {"tests/test_old.py": "weak\n", "tests/helpers.py": "weak\n", "lib/parse.spec.ts": "weak\n"}
    assert expected == sorted(trees.restore(dict(changed), (selector,)))
    assert [BASE[name] for name in expected] == [trees.text(name) for name in expected]


def test_selectors_are_meant_from_the_working_folder(trees: Trees) -> None:
    """A selector names a file of the folder in which the command runs."""
    assert ["lib/parse.spec.ts"] == trees.restore({"lib/parse.spec.ts": "weak\n"}, ("parse.spec.ts",), workdir="lib")


def test_selected_file_that_was_removed(trees: Trees) -> None:
    """A file that a selector names stays away, so that its tests fail; one beside it comes back."""
    assert ["tests/helpers.py"] == trees.restore(
        {"tests/test_old.py": None, "tests/helpers.py": None}, ("tests/test_old.py",)
    )


def test_held_out_paths(trees: Trees) -> None:
    """Held-out paths become what they were, new files at them go."""
    changed: dict[str, str | None] = {"tests/test_old.py": None, "lib/parse.spec.ts": "mine\n", "new/a.py": "mine\n"}
    done = trees.restore(changed, held_out=("tests/test_old.py", "lib", "new/a.py"))
    assert ["lib/parse.spec.ts", "new/a.py", "tests/test_old.py"] == done


def test_configuration_in_files_of_its_own(trees: Trees) -> None:
    """New configuration goes, changed one comes back, and what the solution itself changes is work."""
    changed: dict[str, str | None] = {"jest.config.js": "mine\n", "a/conftest.py": "mine\n", "vite.config.ts": "work\n"}
    assert ["a/conftest.py", "jest.config.js"] == trees.restore(changed, work=["vite.config.ts"])
    assert "work\n" == trees.text("vite.config.ts")


def test_sections_of_shared_files(trees: Trees) -> None:
    """Of pyproject.toml, setup.cfg and package.json only what is about tests is put back."""
    package = {"scripts": {"build": "vite", "test": "true"}, "dependencies": {"a": "1"}, "jest": {"bail": 1}}
    changed: dict[str, str | None] = {
        "pyproject.toml": BASE["pyproject.toml"].replace('"a"', '"b"').replace("-q", "-p cheat"),
        "setup.cfg": BASE["setup.cfg"].replace("= a", "= b").replace("-q", "-p cheat"),
        "package.json": json.dumps(package),
    }
    assert sorted(changed) == sorted(trees.restore(changed))
    assert ('name = "b"' in trees.text("pyproject.toml"), "cheat" in trees.text("pyproject.toml")) == (True, False)
    assert ('addopts = "-q"' in trees.text("pyproject.toml"), "[tool.ruff]" in trees.text("pyproject.toml")) == (
        True,
        True,
    )
    assert "[metadata]\nname = b\n\n[tool:pytest]\naddopts = -q\n" == trees.text("setup.cfg")
    expected = {"scripts": {"build": "vite", "test": "node --test"}, "dependencies": {"a": "1"}}
    assert expected == json.loads(trees.text("package.json"))


@pytest.mark.parametrize(
    "text",
    [
        'tool.pytest.ini_options.addopts = "-p cheat"\n',
        '[tool]\npytest = {ini_options = {addopts = "-p cheat"}}\n',
        '["tool"."pytest".ini_options]\naddopts = "-p cheat"\n',
        'text = """\n[tool.pytest]\n"""\n[tool.pytest.ini_options]\naddopts = "-p cheat"\n',
        "[tool . pytest . ini_options]\naddopts = '-p cheat'\n",
    ],
)
def test_other_spellings_of_a_section(trees: Trees, text: str) -> None:
    """Whatever way TOML lets a table be written, it is found."""
    trees.restore({"pyproject.toml": text})
    assert "cheat" not in trees.text("pyproject.toml")


def test_way_that_leads_elsewhere(trees: Trees, tmp_path: Path) -> None:
    """Through a link in place of a folder nothing is written."""
    write(trees.tree, {"tests/test_old.py": None, "tests/helpers.py": None})
    (trees.tree / "tests").rmdir()
    (trees.tree / "tests").symlink_to(tmp_path)
    with pytest.raises(CannotRestoreError, match="tests is no folder any more"):
        trees.restore({}, ("tests/test_old.py",), held_out=("tests/new.py",))
    assert {"pristine", "tree"} == {place.name for place in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("conftest.py", True),
        ("a/b/Conftest.PY", True),
        ("vitest.config.mts", True),
        (".mocharc.yml", True),
        ("lib/main_test.go", True),
        ("a/__pycache__/b.cpython-312.pyc", True),
        (".cargo/config.toml", True),
        ("config.toml", False),
        ("app/config.toml", False),
        ("docs/pytest.md", False),
        ("package.json", False),
        ("src/vitest.ts", False),
    ],
)
def test_which_files_configure_runners(name: str, expected: bool) -> None:
    """Names decide, in any case and folder."""
    assert expected == is_runner_file(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pytest/__init__.py", True),
        ("_pytest.py", True),
        ("random.py", True),
        ("json/__init__.py", True),
        ("pkg/random.py", False),
        ("work/random.py", True),
        ("random.txt", False),
        ("usercustomize.py", True),
        ("a-1.dist-info/entry_points.txt", True),
        ("work/a.egg-info/PKG-INFO", True),
        ("a.egg-info.txt", False),
    ],
)
def test_which_files_take_over(name: str, expected: bool) -> None:
    """What Python loads unasked, or in place of its own, from the root and from where commands run."""
    assert expected == takes_over(name, ("", "work"))


def test_new_files_that_take_over_go_and_old_ones_stay(trees: Trees) -> None:
    """A module that the repository has, and one that was asked for, are nobody's trick."""
    (trees.pristine / "queue.py").write_text("OLD = 1\n")
    new = {"queue.py": "NEW = 1\n", "random.py": "seed = 1\n", "calendar.py": "DAYS = 7\n"}
    assert ["random.py"] == trees.restore(new, (), work=("calendar.py",))
    assert ("NEW = 1\n", "DAYS = 7\n") == (trees.text("queue.py"), trees.text("calendar.py"))
