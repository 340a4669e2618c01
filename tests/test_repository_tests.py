"""Running a repository's tests on what a model left: what counts, what is restored, and which tricks do not help."""

import json
import os
import re
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from regrade import sandbox
from regrade.repository_tests import HiddenTest, TestCommand, Tested, is_protected, run_hidden, run_visible
from sandbox_support import IDENTITIES, Someone, someone
from suite_structured_support import VECTORS

COMMAND = TestCommand(("{python}", "-m", "pytest", "-q"))
BROKEN = "def mean(values):\n    return sum(values) // len(values)\n"
FIXED = "def mean(values):\n    return sum(values) / len(values)\n"
HIDDEN = HiddenTest(
    "tests/test_hidden.py", "from calc.stats import mean\n\ndef test_half():\n    assert mean([1, 2]) == 1.5\n"
)
REPOSITORY = {
    "calc/__init__.py": "",
    "calc/stats.py": BROKEN,
    "tests/test_visible.py": "from calc.stats import mean\n\ndef test_whole():\n    assert mean([2, 4]) == 3\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


class Place:
    """A pristine repository, and beside it what a model left."""

    def __init__(self, folder: Path, pristine: dict[str, str] | None = None) -> None:
        self.before = pristine or REPOSITORY
        self.pristine = write(folder / "pristine", self.before)
        self.workspace = folder / "workspace"

    def tested(
        self,
        files: dict[str, str | None],
        command: TestCommand = COMMAND,
        hidden: tuple[HiddenTest, ...] = (HIDDEN,),
        mode: str = "sandboxed",
    ) -> Tested:
        """The verdict on the repository with files that were written, or (None) removed."""
        left = {**self.before, **files}
        write(self.workspace, {name: content for name, content in left.items() if content is not None})
        return run_hidden(self.pristine, self.workspace, command, hidden, mode)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


FIX: dict[str, str | None] = {"calc/stats.py": FIXED}

CASES = [json.loads(line) for line in (VECTORS / "protected_path.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_known_protected_paths(case: dict[str, dict[str, bool] | str]) -> None:
    """Every vector holds."""
    assert case["expected"] == {"protected": is_protected(str(case["response"]))}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a\\Tests\\b.py", True),
        ("pkg/evil.pth", True),
        ("pytest.toml", True),
        ("pytest.py", True),
        ("_pytest/__init__.py", True),
        ("calc/pytest.py", False),
        ("json.py", False),
        ("mytests/a.py", False),
        ("tests.py", False),
    ],
)
def test_our_protected_paths(path: str, expected: bool) -> None:
    """Beyond the vectors: files that pytest is configured by, that Python loads by itself, and pytest's own modules."""
    assert expected is is_protected(path)


def test_a_fix_passes(place: Place) -> None:
    """The count leaves our own tests out, and the record says what held."""
    found = place.tested(FIX)
    assert (True, "", "2 tests passed, hidden files among them: 1") == (found.passed, found.reason, found.detail)
    assert "bubblewrap" == found.about["sandbox"]["mode"]
    assert found.about["in_process"] and found.about["cpu_s"] > 0
    assert "left_out" not in found.about


def test_no_fix_fails_with_the_names_of_the_tests(place: Place) -> None:
    """The detail is for the record, which the model does not see."""
    found = place.tested({})
    assert (False, "tests_failed") == (found.passed, found.reason)
    assert "exit code 1; failed: tests/test_hidden.py::test_half" in found.detail


@pytest.mark.parametrize(
    "files",
    [
        {"conftest.py": "raise RuntimeError"},
        {"conftest.py": "def pytest_collection_modifyitems(items):\n    items.clear()\n"},
        {"tests/conftest.py": "raise RuntimeError"},
        {"tests/test_visible.py": "def test_broken():\n    assert False\n"},
        {"tests/test_visible.py": None},
        {"tests/test_mine.py": "def test_mine():\n    assert False\n"},
        {"test_mine.py": "def test_mine():\n    assert False\n"},
        {"calc/mean_test.py": "raise RuntimeError\n"},
        {"test/test_mine.py": "import nothing_like_it\n"},
        {"pytest.ini": "[pytest]\naddopts = --nonsense\n"},
        {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p evil'\n"},
        {"setup.cfg": "[tool:pytest]\naddopts = --co\n"},
        {"tox.ini": "[pytest]\naddopts = --co\n"},
        {"sitecustomize.py": "import os\nos._exit(3)\n"},
        {"usercustomize.py": "import os\nos._exit(3)\n"},
        {"evil.pth": "import os; os._exit(3)\n"},
        {"json.py": "import os\nos._exit(3)\n"},
        {"random/__init__.py": "import os\nos._exit(3)\n"},
        {"pytest.py": "raise SystemExit(3)\n"},
        {"report_plugin.py": "raise SystemExit(3)\n"},
        {"evil-1.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n", "evil.py": "raise SystemExit(3)\n"},
        {"tests": "a file in the place of a folder"},
        {"conftest.py/x.py": "a folder in the place of a file"},
    ],
    ids=lambda files: "-".join(files),
)
def test_honest_work_passes_whatever_lies_beside_it(place: Place, files: dict[str, str | None]) -> None:
    """Tests and what runs them are the pristine ones; a model's own are neither run nor loaded."""
    if "tests" in files:
        files = {name: None for name in REPOSITORY if name.startswith("tests/")} | files
    found = place.tested({**FIX, **files})
    assert found.passed, found.detail


@pytest.mark.parametrize("name", ["conftest.py", "tests/test_visible.py", "evil.pth", "json.py"])
def test_none_of_it_helps_either(place: Place, name: str) -> None:
    """The same files do not make a wrong answer pass, and the record names them."""
    always = "import pytest\n\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport():\n"
    found = place.tested({name: always + "    report = yield\n    report.outcome = 'passed'\n    return report\n"})
    assert (False, "tests_failed") == (found.passed, found.reason)
    assert [name] == found.about["left_out"]
    assert f"without {name}" in found.detail


def test_new_modules_named_like_tests_can_be_imported(place: Place) -> None:
    """They are not collected, but they are there."""
    fix = "from calc.speed_test import measured\n\ndef mean(values):\n    return measured(sum(values), len(values))\n"
    found = place.tested({"calc/stats.py": fix, "calc/speed_test.py": "def measured(a, b):\n    return a / b\n"})
    assert found.passed, found.detail


def test_modules_in_packages_may_have_any_name(place: Place) -> None:
    """Only where a module would be loaded in the place of another is its name taken."""
    fix = "from calc.json import half\n\ndef mean(values):\n    return half(sum(values), len(values))\n"
    found = place.tested({"calc/stats.py": fix, "calc/json.py": "def half(a, b):\n    return a / b\n"})
    assert found.passed, found.detail
    assert "left_out" not in found.about


def test_existing_modules_at_the_root_may_be_changed(tmp_path: Path) -> None:
    """A repository with a module named like one of the standard library's is worked on like any other."""
    place = Place(tmp_path, {"calendar.py": "DAYS = 6\n", "tests/test_visible.py": "def test():\n    pass\n"})
    hidden = HiddenTest("tests/test_days.py", "import calendar\n\ndef test_days():\n    assert calendar.DAYS == 7\n")
    assert place.tested({"calendar.py": "DAYS = 7\n"}, hidden=(hidden,)).passed


def test_tests_outside_of_tests_are_restored(tmp_path: Path) -> None:
    """Where they lie makes no difference; a module of that name without tests is a module."""
    files = {"calc.py": "X = 1\n", "test_calc.py": "from calc import X\n\ndef test_x():\n    assert X == 2\n"}
    place = Place(tmp_path, {**files, "load_test.py": "Y = 1\n"})
    hidden = HiddenTest("test_hidden.py", "from load_test import Y\n\ndef test_y():\n    assert Y == 2\n")
    changed = {"test_calc.py": "def test_x():\n    pass\n", "load_test.py": "Y = 2\n"}
    assert "failed: test_calc.py::test_x" in place.tested(changed, hidden=(hidden,)).detail
    assert place.tested({**changed, "calc.py": "X = 2\n"}, hidden=(hidden,)).passed


def code(body: str) -> str:
    return f"import os\n\ndef mean(values):\n{body}\n"


@pytest.mark.parametrize(
    ("stats", "reason"),
    [
        ("import os\nos._exit(0)\n", "forged_result"),
        ("import sys\nsys.exit(0)\n", "tests_failed"),
        ("raise KeyboardInterrupt\n", "tests_failed"),
        ("import pytest\npytest.skip('no', allow_module_level=True)\n", "tests_failed"),
        (code("    os._exit(0)"), "forged_result"),
        (code("    raise SystemExit"), "tests_failed"),
        (code("    import pytest\n    pytest.exit('done', 0)"), "forged_result"),
        (code("    import pytest\n    pytest.skip('no')"), "forged_result"),
        (code("    import pytest\n    pytest.xfail('no')"), "forged_result"),
        (code("    import unittest\n    raise unittest.SkipTest"), "forged_result"),
        (f"import atexit, os\natexit.register(os._exit, 0)\n{BROKEN}", "forged_result"),
        (f"import _pytest.python as p\np.Function.runtest = lambda self: None\n{BROKEN}", "tests_failed"),
        (f"import builtins\nbuiltins.AssertionError = KeyError\n{BROKEN}", "tests_failed"),
        (
            "import pathlib\nfor path in pathlib.Path('tests').glob('test_*.py'):\n    try:\n"
            f"        path.write_text('def test_a():\\n    pass\\n')\n    except OSError:\n        pass\n{BROKEN}",
            "tests_failed",
        ),
        (f"import os\nos.remove('tests/test_visible.py')\n{FIXED}", "tests_failed"),
        (f"import sys\nsys.modules['test_hidden'] = sys\n{BROKEN}", "tests_failed"),
        ("print('2 passed')\nimport os\nopen('report.xml', 'w').write('<ok/>')\nos._exit(0)\n", "forged_result"),
    ],
)
def test_code_under_test_cannot_make_its_tests_pass(place: Place, stats: str, reason: str) -> None:
    """Neither by ending the run, nor by skipping, nor by changing pytest or the tests while they run."""
    found = place.tested({"calc/stats.py": stats})
    assert (False, reason) == (found.passed, found.reason), found.detail
    assert found.detail


@pytest.mark.parametrize("mode", ["sandboxed", "unsandboxed"])
def test_tests_that_are_replaced_while_they_run_show_nothing(place: Place, mode: str) -> None:
    """Hidden ones are read-only in the sandbox; where they are moved away, or there is none, it is seen."""
    hidden = (HiddenTest("tests/test_z.py", HIDDEN.content),)
    replace = (
        "import os\nos.rename('tests', 'old')\nos.mkdir('tests')\n"
        "for name in os.listdir('old'):\n    text = open(f'old/{name}').read()\n"
        "    text = text if 'regrade' in name else 'def test_a():\\n    pass\\n'\n"
        "    open(f'tests/{name}', 'w').write(text)\n"
    )
    found = place.tested({"calc/stats.py": replace + BROKEN}, hidden=hidden, mode=mode)
    assert (False, "forged_result") == (found.passed, found.reason), found.detail
    assert "test code was changed while it ran: tests/test_" in found.detail


def test_skips_of_the_tests_own_are_fine(tmp_path: Path) -> None:
    """Skipped by a mark, by the test itself, or expected to fail: as the author has it."""
    visible = """import pytest
from calc.stats import mean

@pytest.mark.skipif(True, reason="elsewhere")
def test_a():
    assert False

def test_b():
    pytest.skip("not here")

@pytest.mark.xfail
def test_c():
    mean([])
"""
    found = Place(tmp_path, {**REPOSITORY, "tests/test_visible.py": visible}).tested(FIX)
    assert found.passed, found.detail


def test_a_hidden_file_whose_tests_are_all_skipped_shows_nothing(place: Place) -> None:
    """A pass needs a passed test in each."""
    hidden = HiddenTest("tests/test_other.py", "import pytest\npytest.skip('x', allow_module_level=True)\n")
    found = place.tested(FIX, hidden=(HIDDEN, hidden))
    assert (False, "no test of tests/test_other.py passed") == (found.passed, found.detail)


@pytest.mark.parametrize(
    "argv",
    [
        ("{python}", "-m", "pytest", "-q", "tests/test_visible.py"),
        ("{python}", "-m", "pytest", "tests/test_visible.py::test_whole"),
        ("{python}", "-m", "pytest", "-k", "whole"),
        ("{python}", "-m", "pytest", "tests"),
        ("pytest", "-q"),
        ("bash", "-c", "cd . && {python} -m pytest -q tests/test_visible.py"),
        ("{python}", "-X", "dev", "-m", "pytest", "-x", "-vv"),
    ],
    ids=lambda argv: " ".join(argv),
)
def test_hidden_tests_run_whatever_the_command_selects(place: Place, argv: tuple[str, ...]) -> None:
    """Beside the tests that a command names or selects."""
    found = place.tested(FIX, TestCommand(argv))
    assert found.passed, found.detail
    assert "tests_failed" == place.tested({"calc/stats.py": BROKEN}, TestCommand(argv)).reason


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("pytest -q", "expected a list of words with pytest"),
        ((), "expected a list of words with pytest"),
        (("make", "test"), "expected a list of words with pytest"),
        (("no-such-program", "pytest"), "exit code 127"),
        (("{python}", "-m", "pytest", "--nonsense"), "exit code 4"),
        (("{python}", "-m", "pytest", "--collect-only"), "not run"),
    ],
)
def test_commands_that_cannot_work_say_so(place: Place, argv: tuple[str, ...], words: str) -> None:
    """No command, no pytest, no program, no such option."""
    found = place.tested(FIX, TestCommand(argv))
    assert not found.passed
    assert words in found.detail


@pytest.mark.parametrize("path", ["../x.py", "/x.py", "", ".", ".git/x.py"])
def test_hidden_tests_stay_in_the_repository(place: Place, path: str) -> None:
    """A task whose hidden test lies outside is refused before anything is written."""
    found = place.tested(FIX, hidden=(HiddenTest(path, "x = 1"),))
    assert (False, "tests_failed") == (found.passed, found.reason)
    assert "is no path inside the repository" in found.detail


def test_files_that_hidden_tests_need_may_be_hidden_too(place: Place) -> None:
    """Data, helpers and a conftest.py come along; only tests must pass."""
    hidden = (
        HiddenTest("tests/data/numbers.json", "[1, 2]"),
        HiddenTest("tests/conftest.py", "import pytest\n\n@pytest.fixture\ndef half():\n    return 1.5\n"),
        HiddenTest(
            "./tests/test_data.py",
            "import json, pathlib\nfrom calc.stats import mean\n\ndef test_data(half):\n"
            "    path = pathlib.Path(__file__).parent / 'data/numbers.json'\n"
            "    assert mean(json.loads(path.read_text())) == half\n",
        ),
    )
    found = place.tested(FIX, hidden=hidden)
    assert found.passed, found.detail
    assert "tests_failed" == place.tested({"calc/stats.py": BROKEN}, hidden=hidden).reason


def test_hidden_tests_take_the_place_of_what_a_model_left(tmp_path: Path) -> None:
    """A file, a folder, or a file where a folder is needed."""
    hidden = HiddenTest("checks/test_half.py", HIDDEN.content)
    for number, name in enumerate(("checks/test_half.py", "checks/test_half.py/x", "checks")):
        found = Place(tmp_path / str(number)).tested({**FIX, name: "assert False"}, hidden=(hidden,))
        assert found.passed, found.detail


def test_configuration_of_the_repository_counts(tmp_path: Path) -> None:
    """Its own layout and options hold, also for names of tests and for a source folder."""
    files = {
        "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\ntestpaths = ['checks']\n"
        "python_files = 'check_*.py'\npython_functions = ['test_whole', 'test_half']\n",
        "src/calc/__init__.py": "",
        "src/calc/stats.py": BROKEN,
        "checks/check_visible.py": REPOSITORY["tests/test_visible.py"],
    }
    place = Place(tmp_path, files)
    for name in ("checks/check_hidden.py", "checks/test_hidden.py"):
        hidden = (HiddenTest(name, HIDDEN.content),)
        found = place.tested({"src/calc/stats.py": FIXED}, hidden=hidden)
        assert found.passed, found.detail
        assert "tests_failed" == place.tested({"src/calc/stats.py": BROKEN}, hidden=hidden).reason
    shadow = {"src/calc/stats.py": FIXED, "src/json.py": "raise SystemExit(3)\n"}
    assert ["src/json.py"] == place.tested(shadow, hidden=hidden).about["left_out"]


def test_links_lead_nowhere_else(place: Place, tmp_path: Path) -> None:
    """What a model linked to is not copied; special files and folders without end do no harm."""
    secret = write(tmp_path, {"secret.txt": "key"}) / "secret.txt"
    write(place.workspace, {"calc/stats.py": FIXED})
    (place.workspace / "linked.txt").symlink_to(secret)
    (place.workspace / "loop").symlink_to(".")
    (place.workspace / "calc/near.py").symlink_to("stats.py")
    os.mkfifo(place.workspace / "fifo")
    deep = place.workspace
    for _ in range(80):
        deep = deep / "d"
        deep.mkdir()
    assert place.tested(FIX).passed
    listing = "import os\n\ndef test_list():\n    raise AssertionError(sorted(os.listdir('.')))\n"
    write(place.workspace, {"tests/test_list.py": listing})
    seen = run_visible(place.workspace, COMMAND, "sandboxed")
    assert "linked.txt" not in seen.output and "loop" in seen.output and "fifo" not in seen.output


def test_names_that_are_no_text_are_escaped(place: Place) -> None:
    """In the record as in messages."""
    write(place.workspace, {"tests/x": ""})
    os.rename(place.workspace / "tests/x", os.fsencode(place.workspace) + b"/tests/\xff.py")
    found = place.tested({})
    assert ["tests/\\xff.py"] == found.about["left_out"]
    assert found.detail.encode().decode().endswith("without tests/\\xff.py, which a model may not bring along")


def test_scripts_stay_executable(tmp_path: Path) -> None:
    """Tests may run what the repository lets run."""
    files = {"run.sh": "#!/bin/sh\necho 1\n", "tests/test_visible.py": "def test():\n    pass\n"}
    place = Place(tmp_path, files)
    (place.pristine / "run.sh").chmod(0o755)
    write(place.workspace, {"run.sh": "#!/bin/sh\necho 2\n"}).joinpath("run.sh").chmod(0o755)
    tests = "import subprocess\n\ndef test_run():\n    assert subprocess.check_output(['./run.sh']) == b'2\\n'\n"
    found = place.tested({"run.sh": "#!/bin/sh\necho 2\n"}, hidden=(HiddenTest("tests/test_run.py", tests),))
    assert found.passed, found.detail


def test_what_a_model_sees_of_its_tests(place: Place) -> None:
    """Visible tests on a copy; one bounded line, without this machine's paths, and nothing hidden."""
    place.tested(
        {"calc/stats.py": "import os\nopen('made.txt', 'w')\n\ndef mean(values):\n    print('x\\x1b' * 9999)\n"}
    )
    before = sorted(place.workspace.rglob("*"))
    for mode in ("sandboxed", "unsandboxed"):
        found = run_visible(place.workspace, COMMAND, mode)
        assert (False, "tests_failed") == (found.passed, found.reason)
        assert found.output.isprintable() and 100 < len(found.output) <= 1000
        assert "test_whole" in found.output
        assert not {"hidden", "regrade-tests"} & set(found.output.replace("/", " ").split())
    assert before == sorted(place.workspace.rglob("*"))
    write(place.workspace, {"calc/stats.py": FIXED})
    assert run_visible(place.workspace, COMMAND, "sandboxed").passed


def test_nothing_hidden_is_there_while_a_model_works(place: Place) -> None:
    """Its code finds neither hidden tests nor a report, and has no network."""
    look = """import os, pathlib, socket, subprocess

def test_look():
    found = subprocess.run(["find", "/", "-xdev", "-name", "*hidden*.py", "-o", "-name", "regrade_report*"],
                           capture_output=True, text=True).stdout
    assert [line for line in found.splitlines() if "site-packages" not in line and "/lib/python" not in line] == []
    assert not [name for name in os.environ if "REGRADE" in name or "SECRET" in name]
    assert "HOME" not in os.environ
    for address in (("127.0.0.1", 80), ("1.1.1.1", 53)):
        try:
            socket.create_connection(address, 1)
        except OSError:
            continue
        raise AssertionError(address)
"""
    place.tested({"tests/test_look.py": look})
    os.environ["SECRET_KEY"] = "key"
    try:
        found = run_visible(place.workspace, COMMAND, "sandboxed")
    finally:
        del os.environ["SECRET_KEY"]
    assert found.passed, found.output


def test_processes_that_tests_start_find_nothing_of_ours(place: Place) -> None:
    """A pytest inside the tests works like any other."""
    tests = """import os, subprocess, sys

def test_inner(tmp_path):
    assert not [name for name in os.environ if "REGRADE" in name or name == "PYTEST_ADDOPTS"]
    (tmp_path / "test_it.py").write_text("def test_it():\\n    pass\\n")
    subprocess.run([sys.executable, "-m", "pytest", "-q", str(tmp_path)], check=True)
"""
    found = place.tested(FIX, hidden=(HIDDEN, HiddenTest("tests/test_inner.py", tests)))
    assert found.passed, found.detail


def test_no_process_is_left(place: Place) -> None:
    """What code under test started is gone with the tests."""
    mark = f"301.{os.getpid()}"
    start = f"import subprocess\nchild = subprocess.Popen(['sleep', '{mark}'], start_new_session=True)\n"
    tests = "import time\nfrom calc.stats import child\n\ndef test_alive():\n    time.sleep(0.1)\n"
    tests += "    assert child.poll() is None\n"
    found = place.tested({"calc/stats.py": start + FIXED}, hidden=(HiddenTest("tests/test_alive.py", tests),))
    assert found.passed, found.detail
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert mark not in process.read_text()
        except OSError:
            continue


def test_a_limit_is_named_with_the_seconds_measured(place: Place) -> None:
    """CPU is what is limited; by the clock there is three times as much."""
    spinning = place.tested({"calc/stats.py": "while True:\n    pass\n"}, TestCommand(COMMAND.argv, 1))
    assert "tests_failed" == spinning.reason
    # A very busy machine may come to the second limit first.
    assert re.search(r"stopped by the (cpu limit of 1|wall limit of 3) s after \d\.\d s by", spinning.detail)
    sleeping = place.tested({"calc/stats.py": "import time\ntime.sleep(99)\n"}, TestCommand(COMMAND.argv, 0.5))
    assert "stopped by the wall limit of 1.5 s after " in sleeping.detail


def test_a_flood_of_tests_is_reported(place: Place) -> None:
    """Neither many tests nor long names hold up a run, or are held in memory without bound."""
    tests = "import pytest\n\n@pytest.mark.parametrize('x', range(1000), ids=lambda x: f'{x}' * 50)\n"
    tests += "def test_many(x):\n    assert x >= 0\n"
    many = HiddenTest("tests/test_many.py", tests)
    found = place.tested(FIX, hidden=(many,))
    assert found.passed and found.detail.startswith("1001 tests passed"), found.detail
    failing = place.tested(FIX, hidden=(HiddenTest("tests/test_many.py", tests.replace("x >= 0", "x > 990")),))
    assert "tests_failed" == failing.reason
    assert len(failing.detail) < 2000 and len(failing.output) <= 1000


def test_without_permission_nothing_runs(place: Place) -> None:
    """`off` is its own reason, for both ways to run tests."""
    assert "code_not_allowed" == place.tested(FIX, mode="off").reason
    assert "code_not_allowed" == run_visible(place.workspace, COMMAND, "off").reason


def test_unsandboxed_tests_run_where_the_user_allows_it(place: Place) -> None:
    """With the same verdicts, and the mode in the record."""
    found = place.tested(FIX, mode="unsandboxed")
    assert found.passed, found.detail
    assert "none" == found.about["sandbox"]["mode"]
    assert "tests_failed" == place.tested({"calc/stats.py": BROKEN}, mode="unsandboxed").reason
    ended = "import os\nos._exit(0)\n"
    assert "forged_result" == place.tested({"calc/stats.py": ended}, mode="unsandboxed").reason


@pytest.fixture(params=IDENTITIES)
def anyone(request: pytest.FixtureRequest) -> Iterator[Someone]:
    yield from someone(request.param)


def test_root_and_ordinary_users_get_the_same_verdicts(anyone: Someone) -> None:
    """Mounts, descriptors and read-only tests work for both."""
    driver = (
        "import json, pathlib\nfrom test_repository_tests import *\n"
        f"folder = pathlib.Path({str(anyone.workspace)!r})\n"
        "found = [Place(folder / 'a').tested(FIX), Place(folder / 'b').tested({}),\n"
        "         Place(folder / 'c').tested({'calc/stats.py': 'import os\\nos._exit(0)\\n'})]\n"
        "print(json.dumps([[one.passed, one.reason] for one in found]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([*anyone.words()[:-1], driver], env=environment, capture_output=True, text=True, check=False)
    expected = [[True, ""], [False, "tests_failed"], [False, "forged_result"]]
    assert expected == json.loads(done.stdout or "null"), done.stderr


def spent() -> float:
    """CPU seconds of this process and of the sandboxes that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def test_a_run_costs_little_more_than_pytest_itself(place: Place) -> None:
    """Our own part is small, and our plugin adds little inside."""
    ours, inside = [], []
    for _ in range(3):
        before = spent()
        inside.append(place.tested(FIX).about["cpu_s"])
        ours.append(spent() - before - inside[-1])
    assert min(ours) < 0.15
    alone = run_visible(place.workspace, COMMAND, "sandboxed").about["cpu_s"]
    assert min(inside) < 1.5 * alone + 0.1


def test_the_sandbox_works_here() -> None:
    """Without it none of the above says anything."""
    assert sandbox.available() is None
