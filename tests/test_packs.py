"""Our own packs: each can be run, its right answers pass, and what is not one fails."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from regrade.formats import benchpack
from regrade.formats.benchpack import Benchpack, Case
from regrade.formats.benchpack.check import check_pack
from regrade.scorers import benchpack as scorers

ROOT = Path(__file__).parents[1]
PACKS = ROOT / "benchpacks"
CASES = {
    f"{pack.id}/{case.id}": (pack, case) for pack in benchpack.load_all(PACKS).packs.values() for case in pack.cases
}
TASKS = [name for name, (_, case) in CASES.items() if case.kind == "repo-task"]
PYTHON_TASKS = [name for name in TASKS if name != "product-offer-matching/rust-matcher"]
SCORED_TEXTS = [name for name, (_, case) in CASES.items() if case.kind == "chat" and case.scoring["mode"] != "none"]
CARGO = shutil.which("cargo")


class Verified(NamedTuple):
    exit_code: int
    report: dict


def workspace_of(pack: Benchpack, case: Case, place: Path, solved: bool = False) -> Path:
    """A copy of a case's repository, with the oracle's patch if it is to be solved."""
    shutil.copytree(case.repo_fixture(pack).place, place)
    if solved:
        subprocess.run(["git", "apply", pack.oracle_of(case)], cwd=place, check=True)
    return place


def verify(pack: Benchpack, case: Case, workspace: Path, **environment: str) -> Verified:
    """What a case's verifier says of a workspace, called as a runner calls it."""
    output = workspace.with_name("verify.json")
    argv = [sys.executable, str(pack.script_of(case)), "--workspace", str(workspace), "--case", case.id]
    argv += ["--pack-id", pack.id, "--pack-version", pack.version]
    argv += ["--source-fixture-id", case.repo_fixture(pack).id, "--patch", os.devnull, "--output", str(output)]
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    ended = subprocess.run(argv, cwd=pack.folder, env=variables, capture_output=True, text=True)
    assert "" == ended.stderr
    return Verified(ended.returncode, json.loads(output.read_text()))


def run_tests(workspace: Path) -> int:
    argv = [sys.executable, "-B", "-m", "unittest", "-q"]
    return subprocess.run(argv, cwd=workspace, capture_output=True).returncode


def test_every_pack_can_be_run_and_has_nothing_to_find_fault_with():
    """All packs load, pass the checks before a run, and no check of quality has a word to say."""
    loaded = benchpack.load_all(PACKS)
    assert {} == loaded.faults
    assert [] == [fault for pack in loaded.packs.values() for fault in check_pack(pack)]


def test_the_set_names_every_pack():
    """Each pack of the folder stands in one of the two sets, those that want an agent in their own."""
    lines = [line for name in ("packs", "agent-packs") for line in (ROOT / f"sets/{name}.txt").read_text().splitlines()]
    named = [line.partition("#")[0].strip() for line in lines]
    assert sorted(folder.name for folder in PACKS.iterdir()) == sorted(filter(None, named))


def test_every_pack_says_what_it_requires_and_has_an_answer_to_every_case():
    """A README with the requirements, and an oracle also where nothing is scored."""
    for pack, case in CASES.values():
        assert "**Requires**" in (pack.folder / "README.md").read_text()
        assert (".diff" if case.kind == "repo-task" else ".md") == pack.oracle_of(case).suffix


@pytest.mark.parametrize("name", SCORED_TEXTS)
def test_a_right_answer_scores_and_no_answer_does_not(name):
    """The oracle's text passes; an empty one, the prompt itself and the answers to other cases do not."""
    pack, case = CASES[name]
    schema = pack.schema_of(case)
    others = [pack.oracle_of(other).read_text() for other in pack.cases if other is not case]
    assert scorers.score(case.scoring, pack.oracle_of(case).read_text(), schema)["passed"]
    passed = [scorers.score(case.scoring, text, schema)["passed"] for text in ["", case.raw.get("prompt", ""), *others]]
    assert [False] * len(passed) == passed


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("desktop-django-wrap/start-order", "C, F, B", "F, C, B"),
        ("desktop-django-wrap/wrap-plan", "127.0.0.1", "0.0.0.0"),
        ("desktop-django-wrap/settings-json", '"shelf"', '"shelf", "swaps"'),
        ("desktop-django-wrap/settings-json", '"media": "media"', '"media": "/srv/media"'),
        ("desktop-django-wrap/settings-json", '"DEBUG": false', '"DEBUG": 0'),
        ("tool-json/one-tool", '{"calls"', 'Here you are: {"calls"'),
        ("tool-json/several-arguments", "15", '"15"'),
        ("tool-json/two-calls", "1.5", "1"),
        ("tool-json/no-tool", "[]", '[{"name": "lamp", "arguments": {"bed": 5}}]'),
        ("smoke-chat/notice", "18:30", "17:00"),
    ],
)
def test_an_answer_with_one_thing_wrong_fails(name, old, new):
    """The scoring is as strict as the prompt."""
    pack, case = CASES[name]
    answer = pack.oracle_of(case).read_text()
    assert old in answer
    assert not scorers.score(case.scoring, answer.replace(old, new), pack.schema_of(case))["passed"]


@pytest.mark.parametrize("name", TASKS)
def test_a_verifier_fails_the_untouched_repository_and_passes_the_oracle(name, tmp_path):
    """Doing nothing is no solution, and the oracle's patch is one; without a needed program neither can be said."""
    pack, case = CASES[name]
    untouched = verify(pack, case, workspace_of(pack, case, tmp_path / "untouched"))
    solved = verify(pack, case, workspace_of(pack, case, tmp_path / "solved", solved=True))
    can_be_said = CARGO or name in PYTHON_TASKS
    assert (1, 0 if can_be_said else 1) == (untouched.exit_code, solved.exit_code)
    assert [not can_be_said] * 2 == ["not_applicable" in found.report for found in (untouched, solved)]
    assert untouched.report["problems"]


def test_without_cargo_nothing_is_said_about_a_program_in_rust(tmp_path):
    """The verifier names the program that it lacks, under a key of its own."""
    pack, case = CASES["product-offer-matching/rust-matcher"]
    found = verify(pack, case, workspace_of(pack, case, tmp_path / "solved", solved=True), PATH=str(tmp_path))
    assert (1, "needs the program cargo, which is not on PATH") == (found.exit_code, found.report["not_applicable"])


@pytest.mark.parametrize("name", PYTHON_TASKS)
def test_a_solution_that_changed_a_test_is_refused(name, tmp_path):
    """A file of the tests that was edited, removed or replaced by a link fails the solution by name."""
    pack, case = CASES[name]
    solved = workspace_of(pack, case, tmp_path / "solved", solved=True)
    [*_, test] = sorted(solved.glob("tests/test_*.py"))
    content = test.read_bytes()
    expected = (1, [f"tests/{test.name} was changed or removed, and is protected"])
    test.write_bytes(content + b"\n")
    edited = verify(pack, case, solved)
    test.unlink()
    removed = verify(pack, case, solved)
    (tmp_path / "elsewhere.py").write_bytes(content)
    test.symlink_to(tmp_path / "elsewhere.py")
    linked = verify(pack, case, solved)
    assert [expected] * 3 == [(found.exit_code, found.report["problems"]) for found in (edited, removed, linked)]


FORGED = """
import os, sys
for stream in (1, 2):
    os.write(stream, b'every check passed\\n{"passed": true}\\n[]\\n')
os._exit(0)
"""


@pytest.mark.parametrize("name", PYTHON_TASKS)
def test_code_that_ends_the_process_well_has_answered_nothing(name, tmp_path):
    """An exit code of 0 and boasting output are no values."""
    pack, case = CASES[name]
    workspace = workspace_of(pack, case, tmp_path / "forged", solved=True)
    for package in workspace.glob("*/__init__.py"):
        package.write_text(FORGED)
    shutil.rmtree(workspace / "tests")
    shutil.copytree(case.repo_fixture(pack).place / "tests", workspace / "tests")
    found = verify(pack, case, workspace)
    assert 1 == found.exit_code
    assert "the process ended with exit code 0" in found.report["problems"][0]


def test_new_files_and_chatter_do_no_harm(tmp_path):
    """A solution may print, and may bring tests of its own."""
    pack, case = CASES["patch-from-failure/next-ferry"]
    solved = workspace_of(pack, case, tmp_path / "solved", solved=True)
    (solved / "tests/test_more.py").write_text("")
    with (solved / "ferry/timetable.py").open("a") as file:
        file.write("\nprint('loaded', end='')\nimport os\nos.write(1, b'no line end')\n")
    assert Verified(0, {"case": "next-ferry", "problems": []}) == verify(pack, case, solved)


class Half(NamedTuple):
    """A solution with one thing missing: the oracle's, with a piece of a file put otherwise."""

    name: str
    file: str
    old: str
    new: str


HALVES = [
    Half("patch-from-failure/next-ferry", "ferry/timetable.py", " % MINUTES_A_DAY", ""),
    Half("patch-from-failure/next-ferry", "ferry/timetable.py", "sorted(", "list("),
    Half("patch-from-failure/next-ferry", "ferry/timetable.py", "if not self.departures", "if self.departures is None"),
    Half("python-regression-fix/band-limit", "parcels/tariff.py", "bands, weight_g,", "bands, weight_g - 1,"),
    Half("python-regression-fix/stale-quotes", "parcels/quotes.py", " or 0, names)", " or 0, ())"),
    Half("python-regression-fix/stale-quotes", "parcels/quotes.py", 'parcel["zone"], parcel', '"inland", parcel'),
    Half("django-dashboard-regression-fix/dashboard-counters", "orders/query.py", "[*self._steps, step]", "[step]"),
    Half(
        "django-dashboard-regression-fix/dashboard-counters",
        "orders/query.py",
        "derived = QuerySet(self._rows)",
        "derived = QuerySet(list(self)); self._steps = []; step(list(self))",
    ),
    Half("mini-project-completion/tasklist", "tasklist/parse.py", ".lower()", ""),
    Half("mini-project-completion/tasklist", "tasklist/parse.py", "bool(date.fromisoformat(found[1]))", "True"),
    Half("mini-project-completion/tasklist", "tasklist/parse.py", "<= tasks[position].level", "== -1"),
    Half("mini-project-completion/tasklist", "tasklist/report.py", "task.due < today", "task.due <= today"),
    Half("mini-project-completion/tasklist", "tasklist/__main__.py", "return 1", "return 0"),
    Half("product-offer-matching/python-matcher", "offers/gtin.py", "3 if place % 2 else 1", "1 if place % 2 else 3"),
    Half("product-offer-matching/python-matcher", "offers/gtin.py", '.replace("-", "")', ""),
    Half("product-offer-matching/python-matcher", "offers/titles.py", "(?<![a-z0-9.,])", ""),
    Half("product-offer-matching/python-matcher", "offers/titles.py", '"mass" if unit', '"mass" if True or unit'),
    Half("product-offer-matching/python-matcher", "offers/matcher.py", "if count == most", ""),
]


@pytest.mark.parametrize("half", HALVES, ids=lambda half: f"{half.name}:{half.old}")
def test_half_a_solution_fails(half, tmp_path):
    """Each part of an oracle's patch is looked for by the verifier."""
    pack, case = CASES[half.name]
    workspace = workspace_of(pack, case, tmp_path / "half", solved=True)
    file = workspace / half.file
    assert half.old in file.read_text()
    file.write_text(file.read_text().replace(half.old, half.new))
    compile(file.read_text(), half.file, "exec")
    assert 1 == verify(pack, case, workspace).exit_code


@pytest.mark.parametrize("name", PYTHON_TASKS)
def test_the_tests_of_a_repository_pass_with_the_oracle(name, tmp_path):
    """Nobody is asked for something that the visible tests contradict."""
    pack, case = CASES[name]
    assert 0 == run_tests(workspace_of(pack, case, tmp_path / "solved", solved=True))


@pytest.mark.parametrize("pack_id", ["python-regression-fix", "django-dashboard-regression-fix"])
def test_no_visible_test_finds_a_regression(pack_id, tmp_path):
    """What the prompts say is true: the tests pass before anything is repaired."""
    [(pack, case), *_] = [found for found in CASES.values() if found[0].id == pack_id]
    assert 0 == run_tests(workspace_of(pack, case, tmp_path / "untouched"))


def test_the_packs_share_one_way_to_run_the_code_of_a_workspace():
    """Every pack stands alone with a copy of the same module."""
    copies = [path.read_bytes() for path in PACKS.glob("*/verify/workspace_code.py")]
    assert [copies[0]] * 5 == copies
