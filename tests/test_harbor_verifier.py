"""The script that grades in Harbor's verifier image: what it says of honest work, of broken work and of tricks."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from harbor_support import CALC, GOLD, HIDDEN, Calc, Verifier, changes, vectors, verifier

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the script changes users, which takes root")

KNOWN = vectors("verifierScenarios")
FLAGS = ("reward", "patch_applied", "fail_to_pass", "pass_to_pass", "deterministic", "setup_completed")
CODES = ("fail_to_pass_exit_code", "fail_to_pass_repeat_exit_code", "pass_to_pass_exit_code")


@pytest.fixture
def calc(tmp_path: Path) -> Calc:
    return Calc(tmp_path)


@pytest.fixture
def image(calc: Calc) -> Verifier:
    return verifier(calc.folder, calc.task(), calc.repo)


def shown(rewards: dict[str, Any]) -> tuple[str, str]:
    """Rewards as the tables of scenarios write them: the flags, the exit codes."""
    assert [*FLAGS, *CODES] == list(rewards)
    return " ".join(str(rewards[key]) for key in FLAGS), ",".join(str(rewards[key]) for key in CODES)


@pytest.mark.parametrize("case", KNOWN, ids=[case["id"] for case in KNOWN])
def test_known_scenarios(image: Verifier, case: dict[str, Any]) -> None:
    """Every vector holds, but that its hole is closed."""
    rewards = image.grade(case["agentPatch"])
    if case["hole"]:
        assert ("0 1 0 1 0 1", "1,-1,0") == shown(rewards)
    else:
        assert case["reward"] == rewards
    assert (["10", "20", "10", "20"] if case["id"] == "econnreset" else []) == image.slept


@pytest.mark.parametrize(
    ("patch", "expected"),
    [(None, ("0 0 0 0 0 0", "-1,-1,-1")), ("diff --git a/x b/x\n", ("0 0 0 0 0 0", "-1,-1,-1"))],
    ids=["missing", "corrupt"],
)
def test_no_patch_to_grade(image: Verifier, patch: str | None, expected: tuple[str, str]) -> None:
    """A patch that is not there, or that does not apply, runs nothing."""
    assert expected == shown(image.grade(patch))


OWN: dict[str, str | None] = {"tests/test_mul.py": "def test_mul():\n    pass\n\n\ndef test_fold():\n    pass\n"}
CHEAT = "import pytest\n\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n"


def regressed(calc: Calc) -> dict[str, str | None]:
    """Good work that breaks what worked: `add` and the names that the package had."""
    solved = calc.solved
    return {
        **solved,
        "calc/ops.py": str(solved["calc/ops.py"]).replace("return a - b", "return b - a"),
    }


def test_held_out_tests_are_not_the_agents(calc: Calc, image: Verifier) -> None:
    """An agent's own tests in place of the hidden ones count for nothing."""
    assert ("0 1 0 1 0 1", "4,-1,0") == shown(image.grade(changes(calc.repo, OWN)))


def test_good_work_beside_a_test_of_its_own(calc: Calc, image: Verifier) -> None:
    """The hidden tests win over an agent's file of the same name, and good work passes."""
    assert ("1 1 1 1 1 1", "0,0,0") == shown(image.grade(changes(calc.repo, {**calc.solved, **OWN})))


def test_regression(calc: Calc, image: Verifier) -> None:
    """Good work that breaks what worked fails."""
    assert ("0 1 1 0 1 1", "0,0,1") == shown(image.grade(changes(calc.repo, regressed(calc))))


def test_weakened_test(calc: Calc, image: Verifier) -> None:
    """The same, with the test that shows it made to pass: the test is put back."""
    weakened = {"tests/test_ops.py": "def test_add():\n    pass\n"}
    assert ("0 1 1 0 1 1", "0,0,1") == shown(image.grade(changes(calc.repo, {**regressed(calc), **weakened})))


def test_link_in_place_of_the_tests(calc: Calc, image: Verifier) -> None:
    """Where a held-out path leads elsewhere, nothing is written and nothing is run."""
    shutil.rmtree(calc.repo / "tests")
    (calc.repo / "tests").symlink_to("calc")
    assert ("0 0 0 0 0 1", "-1,-1,-1") == shown(image.grade(changes(calc.repo, {})))


@pytest.mark.parametrize(
    "files",
    [
        {"conftest.py": CHEAT},
        {"tests/conftest.py": CHEAT},
        {"pytest.ini": "[pytest]\naddopts = -p calc.cheat\n", "calc/cheat.py": CHEAT},
        {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p calc.cheat"\n', "calc/cheat.py": CHEAT},
        {"pytest.py": "raise SystemExit(0)\n"},
    ],
    ids=["conftest", "nested-conftest", "pytest.ini", "pyproject", "module"],
)
def test_configuration_of_the_runner(calc: Calc, image: Verifier, files: dict[str, str | None]) -> None:
    """What an agent tells the test runner counts for nothing: nothing done stays nothing done."""
    stubs = {"calc/__init__.py": f"{CALC['calc/__init__.py']}\nmul = power = product = total = print\n"}
    rewards = image.grade(changes(calc.repo, {**stubs, **files}))
    assert ("0 1 0 1 0 1", "1,-1,0") == shown(rewards)


def test_verdict_of_its_own(calc: Calc, image: Verifier) -> None:
    """What code under test writes in the verdict's place, and goes on writing, counts for nothing."""
    (image.folder / "logs/verifier").mkdir()
    (image.folder / "logs/verifier").chmod(0o777)
    forging = (
        "import os, time\nif not os.fork():\n    os.setsid()\n    while True:\n"
        "        os.makedirs('/logs/verifier/reward.json', exist_ok=True)\n        time.sleep(0.01)\ntime.sleep(0.1)\n"
    )
    files: dict[str, str | None] = {"calc/__init__.py": f"{CALC['calc/__init__.py']}\n{forging}"}
    assert ("0 1 0 1 0 1", "4,-1,0") == shown(image.grade(changes(calc.repo, files)))


def test_selectors_of_every_kind(calc: Calc) -> None:
    """Selectors with blanks, quotes, dollars and line ends reach the runner as they are."""
    wanted = ["a b", "it's", '"', "^Test$", "$&", "$(id)", "`id`", "a\nb", "*", "\\"]
    script = "import json, sys; sys.exit(json.loads(sys.argv[1]) != sys.argv[2:])"
    expected = json.dumps(wanted).replace("'", "'\"'\"'")
    task = calc.task(
        testCommand=f"{sys.executable} -c '{script}' '{expected}' {{tests}}", failToPass=wanted, passToPass=[]
    )
    image = verifier(calc.folder, task, calc.repo)
    assert ("1 1 1 1 1 1", "0,0,0") == shown(image.grade(""))


@pytest.mark.parametrize("path", [".", "*", "tests/", "[a-z]*"])
def test_held_out_paths_are_names(calc: Calc, path: str) -> None:
    """A held-out path that looks like a pattern, or is the repository, leaves good work in place."""
    image = verifier(calc.folder, calc.task(testPaths=[path]), calc.repo)
    assert ("1 1 1 1 1 1", "0,0,0") == shown(image.grade(GOLD))


def test_working_folder(calc: Calc) -> None:
    """Commands run in the working folder, and paths of tests and selectors are meant from there."""
    task = calc.task(
        workdir="tests",
        testCommand=f"PYTHONPATH=/app {sys.executable} -m pytest -q -p no:cacheprovider {{tests}}",
        testPaths=["test_mul.py"],
        failToPass=["test_mul.py"],
        passToPass=["test_ops.py::test_sub", "test_shape.py"],
    )
    image = verifier(calc.folder, task, calc.repo)
    weakened: dict[str, str | None] = {"tests/test_ops.py": "def test_add():\n    pass\n"}
    patch = changes(calc.repo, {**regressed(calc), **weakened})
    assert ("0 1 1 0 1 1", "0,0,1") == shown(image.grade(patch))


def test_thousands_of_selectors(calc: Calc) -> None:
    """A command longer than the longest argument is run all the same."""
    many = [f"tests/test_{number}.py::test_with_a_rather_long_name" for number in range(4000)]
    command = f"{sys.executable} -c 'import sys; sys.exit(len(sys.argv) != 4001)' {{tests}}"
    image = verifier(calc.folder, calc.task(testCommand=command, failToPass=many, passToPass=[]), calc.repo)
    assert ("1 1 1 1 1 1", "0,0,0") == shown(image.grade(""))


def test_command_that_never_ends(calc: Calc) -> None:
    """A command that hangs is ended after its time, with all that it started; the rest is run."""
    command = "sleep 0; python3 -c 'import time; time.sleep(600)' & wait; : {tests}"
    times = {"setupSeconds": 1, "agentSeconds": 1, "testsSeconds": 1}
    image = verifier(calc.folder, calc.task(testCommand=command, timeouts=times, passToPass=[]), calc.repo)
    assert ("0 1 0 1 0 1", "124,-1,0") == shown(image.grade(GOLD))


def test_patch_in_other_spellings(calc: Calc) -> None:
    """Hidden tests without prefixes, and in a folder whose name git quotes, are applied."""
    hidden = {"tests/größe/test_mul.py": HIDDEN["tests/test_mul.py"]}
    selectors = ["tests/größe/test_mul.py"]
    task = calc.task(hidden=hidden, failToPass=selectors, testPaths=["tests/größe"])
    image = verifier(calc.folder, task, calc.repo)
    assert ("1 1 1 1 1 1", "0,0,0") == shown(image.grade(changes(calc.repo, {**calc.solved, selectors[0]: "bad"})))
