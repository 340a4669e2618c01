"""Grading patches of SelfBench tasks here: the snapshot, held-out tests, gates."""

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from harbor_support import CALC, GOLD, HIDDEN, Calc, changes, git, vectors
from regrade import cli, files
from regrade.config import Config
from regrade.formats.selfbench import SelfbenchTask
from regrade.held_out import base, prove, snapshot
from regrade.held_out.grading import Graded, grade
from regrade.held_out.prepared import Prepared
from regrade.held_out.selectors import outcomes

OWN: dict[str, str | None] = {"tests/test_mul.py": "def test_mul():\n    pass\n\n\ndef test_fold():\n    pass\n"}
CHEAT = "import pytest\n\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n"
STUBS = {"calc/__init__.py": f"{CALC['calc/__init__.py']}\nmul = power = product = total = print\n"}
OPS = """\


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def power(a, b):
    return 0


product = total = power
"""
FLAGS = ("reward", "patch_applied", "fail_to_pass", "pass_to_pass", "deterministic", "setup_completed")


@pytest.fixture
def calc(tmp_path: Path) -> Calc:
    return Calc(tmp_path)


def prepare(calc: Calc, task: SelfbenchTask, mode: str = "bubblewrap", **spec: Any) -> tuple[Prepared, dict[str, Any]]:
    """Run the snapshot stage; the prepared folders and the manifest."""
    output = calc.folder / "prepared" / "inputs.json"
    places = {"output": str(output), "errors": str(output.with_name("errors.jsonl"))}
    told = {"id": "calc-pr-7", "task": str(task.folder), "repository": str(calc.repo), "network": False, **places}
    told |= {"digest": "d", "attempt": 0}
    snapshot.main(json.dumps({**told, **spec}), json.dumps(Config({}, sandbox=mode).to_value()))
    return Prepared(output.parent), files.read_json(output)


def graded(calc: Calc, patch: str, mode: str = "bubblewrap", **fields: Any) -> Graded:
    """Grade a patch of the calculator's task, whose gates are known to pass."""
    task = calc.task(**fields)
    prepared, manifest = prepare(calc, task, mode)
    assert "ok" == manifest["status"], manifest
    least = {"fail_to_pass": len(task.definition.fail_to_pass), "pass_to_pass": 3}
    return grade(task, patch.encode(), prepared, mode, least=least)


def shown(graded: Graded) -> tuple[str, str, str]:
    codes = [graded.rewards[f"{name}_exit_code"] for name in ("fail_to_pass", "fail_to_pass_repeat", "pass_to_pass")]
    return " ".join(str(graded.rewards[flag]) for flag in FLAGS), ",".join(map(str, codes)), graded.reason


def regressed(calc: Calc) -> dict[str, str | None]:
    """Good work that breaks what worked."""
    solved = calc.solved
    return {**solved, "calc/ops.py": str(solved["calc/ops.py"]).replace("return a - b", "return b - a")}


class TestPatches:
    @pytest.mark.parametrize("case", vectors("verifierScenarios"), ids=lambda case: case["id"])
    def test_known_scenarios(self, calc: Calc, case: dict[str, Any]) -> None:
        """What Harbor's verifier says of a patch is said here, but that its hole is closed."""
        found = graded(calc, case["agentPatch"])
        if case["hole"]:
            assert (0, 0) == (found.rewards["reward"], found.rewards["fail_to_pass"])
        else:
            assert case["reward"] == found.rewards

    def test_what_became_of_each_selector(self, calc: Calc) -> None:
        """Files, folders and single tests are told apart, as far as pytest reports them."""
        half = changes(calc.repo, {**calc.solved, "calc/ops.py": "from functools import reduce\n" + OPS})
        found = graded(
            calc, half, passToPass=["tests/test_ops.py::test_add", "tests/test_shape.py", "tests/test_no.py"]
        )
        tests = found.selectors
        assert {"tests/test_mul.py::test_mul": "passed", "tests/test_mul.py::test_fold": "failed"} == tests[
            "fail_to_pass"
        ]
        assert "tests/test_ops.py::test_add" in (tests["pass_to_pass"] or {})
        assert ["passed", "failed", "missing"] == list(
            outcomes(
                ["t", "t/b.py::B", "t/c.py"], "s", {"s/t/a.py": {"passed": 1}}, {"s/t/b.py::B::x": "failed"}
            ).values()
        )

    def test_a_patch_that_does_not_apply(self, calc: Calc) -> None:
        """Nothing is run."""
        assert ("0 0 0 0 0 0", "-1,-1,-1", "patch_rejected") == shown(graded(calc, "diff --git a/x b/x\n"))

    def test_held_out_tests_are_not_the_agents(self, calc: Calc) -> None:
        """Its own tests in their place count for nothing, and good work beside them passes."""
        assert ("0 1 0 1 0 1", "4,-1,0") == shown(graded(calc, changes(calc.repo, OWN)))[:2]
        found = shown(graded(calc, changes(calc.repo, {**calc.solved, **OWN})))
        assert ("1 1 1 1 1 1", "0,0,0", "") == found

    @pytest.mark.parametrize("weakened", [{}, {"tests/test_ops.py": "def test_add():\n    pass\n"}])
    def test_a_regression(self, calc: Calc, weakened: dict[str, str | None]) -> None:
        """Good work that breaks what worked fails, also where the test that shows it was made to pass."""
        patch = changes(calc.repo, {**regressed(calc), **weakened})
        assert ("0 1 1 0 1 1", "0,0,1", "tests_failed") == shown(graded(calc, patch))

    @pytest.mark.parametrize(
        "cheat",
        [
            {"conftest.py": CHEAT},
            {"tests/conftest.py": CHEAT},
            {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
            {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--collect-only"\n'},
            {"calc/ops.py": "import os\nos._exit(0)\n"},
            {"calc/ops.py": f"{CALC['calc/ops.py']}\nimport sys, pytest\npytest.exit('done', 0)\n"},
            {"calc/ops.py": f"{CALC['calc/ops.py']}\nimport pytest\npytest.skip('no', allow_module_level=True)\n"},
        ],
    )
    def test_ways_to_be_passed(self, calc: Calc, cheat: dict[str, str | None]) -> None:
        """Configuration of the runner, an early end with 0, and skipped tests are no pass."""
        found = graded(calc, changes(calc.repo, {**STUBS, **cheat}))
        assert 0 == found.rewards["reward"], found.detail

    @pytest.mark.parametrize("name", ["evil-1.dist-info", "evil.egg-info"])
    def test_a_plugin_that_a_patch_brings_is_not_loaded(self, calc: Calc, name: str) -> None:
        """Not even where pytest looks for what is installed: the repository's root is on its path."""
        about = {
            f"{name}/{file}": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n" for file in ("METADATA", "PKG-INFO")
        }
        plugin = {**about, f"{name}/entry_points.txt": "[pytest11]\nevil = evil\n", "evil.py": CHEAT}
        command = f"{sys.executable} -m pytest -q -p no:cacheprovider {{tests}}"
        found = graded(calc, changes(calc.repo, {**STUBS, **plugin}), testCommand=command)
        assert ("tests_failed", f"{name}/entry_points.txt") == (found.reason, found.restored[-1]), found.detail

    def test_a_module_in_place_of_pythons_own_is_not_loaded(self, calc: Calc) -> None:
        """It would be imported before anything of pytest is."""
        found = graded(calc, changes(calc.repo, {**STUBS, "argparse.py": "import os\nos._exit(0)\n"}))
        assert ("tests_failed", ["argparse.py"]) == (found.reason, found.restored), found.detail

    @pytest.mark.parametrize(
        "change",
        [
            "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n",
            "from _pytest.reports import TestReport as report\n"
            "made = report.from_item_and_call.__func__\n"
            "def passed(cls, item, call):\n"
            "    found = made(cls, item, call)\n"
            "    found.outcome, found.longrepr = 'passed', None\n"
            "    return found\n"
            "report.from_item_and_call = classmethod(passed)\n",
        ],
    )
    def test_a_runner_that_was_changed_from_inside_is_forged(self, calc: Calc, change: str) -> None:
        """A test that is always false passes there as well."""
        stubs = {"calc/__init__.py": STUBS["calc/__init__.py"] + change}
        found = graded(calc, changes(calc.repo, stubs))
        assert ("forged_result", True) == (found.reason, "always false" in found.detail)

    def test_an_early_end_is_told_from_a_failure(self, calc: Calc) -> None:
        """Exit code 0 without the runner's word is a forged result."""
        found = graded(calc, changes(calc.repo, {"calc/ops.py": "import os\nos._exit(0)\n"}))
        assert ("forged_result", True) == (found.reason, "did not come to its own end" in found.detail)

    def test_a_link_in_place_of_the_tests(self, calc: Calc) -> None:
        """Where a held-out path leads elsewhere, nothing is written and nothing is run."""
        shutil.rmtree(calc.repo / "tests")
        (calc.repo / "tests").symlink_to("calc")
        git(calc.repo, "add", "--all")
        patch = git(calc.repo, "diff", "--cached", "--binary", "HEAD")
        git(calc.repo, "reset", "--quiet", "--hard")
        assert ("0 0 0 0 0 1", "-1,-1,-1", "patch_rejected") == shown(graded(calc, patch))

    def test_tests_cannot_be_changed_while_they_run(self, calc: Calc) -> None:
        """Code under test that writes into the held-out tests meets a read-only file."""
        spoil = "\nopen('tests/test_mul.py', 'w').write('def test_mul(): pass')\n"
        found = graded(calc, changes(calc.repo, {"calc/ops.py": CALC["calc/ops.py"] + spoil}))
        assert (0, True) == (found.rewards["reward"], b"Read-only" in found.log)

    def test_selectors_of_every_kind(self, calc: Calc) -> None:
        """Selectors with blanks, quotes, dollars and line ends reach the runner as they are."""
        wanted = ["a b", "it's", '"', "^Test$", "$&", "$(id)", "`id`", "a\nb", "*", "\\"]
        script = "import json, sys; sys.exit(json.loads(sys.argv[1]) != sys.argv[2:])"
        command = f"python3 -c '{script}' {shlex.quote(json.dumps(wanted))} {{tests}}"
        task = calc.task(testCommand=command, failToPass=wanted, passToPass=wanted)
        prepared, _ = prepare(calc, task)
        found = grade(task, GOLD.encode(), prepared, "bubblewrap", reported=False)
        assert ("1 1 1 1 1 1", "0,0,0", "") == shown(found), found.log

    def test_a_command_that_never_ends(self, calc: Calc) -> None:
        """It is stopped with all that it started, and the verdict says by what."""
        times = {"setupSeconds": 60, "agentSeconds": 1, "testsSeconds": 1}
        task = calc.task(testCommand="sleep 600 & wait; : {tests}", timeouts=times, passToPass=[], difficulty="easy")
        prepared, _ = prepare(calc, task)
        found = grade(task, GOLD.encode(), prepared, "bubblewrap", reported=False)
        assert ("0 1 0 1 0 1", "124,-1,0", "tests_failed") == shown(found)
        assert "was stopped by the wall limit" in found.detail

    def test_without_a_sandbox(self, calc: Calc) -> None:
        """Where the user allows it, tests run in the folders themselves."""
        assert ("1 1 1 1 1 1", "0,0,0", "") == shown(graded(calc, GOLD, "none"))


class TestSnapshot:
    def test_what_a_set_up_leaves(self, calc: Calc) -> None:
        """Ignored files and the home folder stay, all others are as they were; there is one commit and no remote."""
        command = "mkdir .venv && echo x > .venv/a && echo y > ~/b && echo z > new && echo w >> calc/ops.py"
        prepared, manifest = prepare(calc, calc.task(setupCommand=command))
        assert ("ok", "x\n") == (manifest["status"], (prepared.agent / ".venv/a").read_text())
        assert "y\n" == (prepared.agent_home / "b").read_text()
        assert (False, CALC["calc/ops.py"]) == (
            (prepared.agent / "new").exists(),
            (prepared.agent / "calc/ops.py").read_text(),
        )
        shutil.copytree(prepared.repository, calc.folder / "seen" / ".git")
        assert "base" == git(calc.folder / "seen", "log", "--format=%s").strip()
        assert "" == git(calc.folder / "seen", "remote")
        assert str(calc.folder) not in (prepared.repository / "config").read_text()

    @pytest.mark.parametrize(
        ("fields", "spec", "told"),
        [
            ({"setupCommand": "echo broken >&2; exit 3"}, {}, ("inputs_error", "exit code 3: broken")),
            ({"setupCommand": "sleep 9", "timeouts": {"setupSeconds": 1, "agentSeconds": 1, "testsSeconds": 1}}, {},
             ("inputs_error", "stopped by the wall limit")),
            ({"setupCommand": "curl https://pypi.org; echo Could not resolve host; exit 6"}, {},
             ("inputs_error", "setup_network: false")),
            ({"baseCommit": "f" * 40}, {}, ("inputs_error", "does not hold the base commit")),
            ({"workdir": "missing"}, {}, ("inputs_error", "workdir is 'missing'")),
            ({}, {"repository": None}, ("inputs_error", "selfbench.repositories in the configuration has no")),
            ({}, {"repository": "/nowhere"}, ("inputs_error", "/nowhere: does not exist")),
        ],
    )  # fmt: skip
    def test_what_cannot_be_set_up(
        self, calc: Calc, fields: dict[str, Any], spec: dict[str, Any], told: tuple[str, str]
    ) -> None:
        """It is an error of the task that says what to do, and noted so that it is tried again."""
        prepared, manifest = prepare(calc, calc.task(**fields), **spec)
        assert ("error", told[0]) == (manifest["status"], manifest["reason"])
        assert told[1] in manifest["message"]
        assert [told[0]] == [row["reason"] for row in files.read_jsonl(prepared.folder / "errors.jsonl")]

    def test_a_toolchain_that_is_not_here(self, calc: Calc, monkeypatch: pytest.MonkeyPatch) -> None:
        """The task is not run, and the message names it."""
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        missing = next(name for name in ("bun", "go", "rust") if shutil.which(snapshot.PROGRAMS[name]) is None)
        _, manifest = prepare(calc, calc.task(toolchains=["python", missing]))
        assert ("not_run", "not_applicable") == (manifest["status"], manifest["reason"])
        assert f"{missing} (no program" in manifest["message"]

    def test_secrets_are_not_kept(self, calc: Calc) -> None:
        """What a set-up prints is kept without them."""
        prepared, _ = prepare(calc, calc.task(setupCommand="echo password=hunter2"))
        assert "password=[REDACTED]" in prepared.log.read_text()

    def test_a_solution_that_needs_other_packages(self, calc: Calc) -> None:
        """Tests run on a second set-up with its manifests; agents never see that."""
        calc.repo.joinpath("requirements.txt").write_text("a\n")
        git(calc.repo, "add", "--all")
        git(calc.repo, "commit", "--quiet", "--message=more")
        calc.base = git(calc.repo, "rev-parse", "HEAD").strip()
        more = changes(calc.repo, {"requirements.txt": "a\nb\n"})
        command = "mkdir -p .venv && cp requirements.txt .venv/installed"
        prepared, manifest = prepare(calc, calc.task(gold=GOLD + more, setupCommand=command))
        assert "ok" == manifest["status"], manifest
        kept = [(place / ".venv/installed").read_text() for place in (prepared.agent, prepared.verifier)]
        assert ["a\n", "a\nb\n"] == kept
        assert "a\n" == (prepared.verifier / "requirements.txt").read_text()


def test_a_patch_is_collected_whatever_was_done_with_git(calc: Calc) -> None:
    """Commits, an index, other branches and ignored files change nothing: files count, against the base."""
    prepared, _ = prepare(calc, calc.task())
    work = calc.folder / "work"
    shutil.copytree(prepared.agent, work)
    (work / "calc/new.py").write_text("x = 1\n")
    (work / "image.bin").write_bytes(bytes(range(256)))
    (work / ".venv").mkdir(exist_ok=True)
    (work / ".venv/ignored").write_text("x")
    (work / "calc/ops.py").unlink()
    (work / "tests/test_ops.py").chmod(0o755)
    patch = base.changes(prepared.repository, work)
    names = [line.split(b" b/")[1].decode() for line in patch.splitlines() if line.startswith(b"diff --git")]
    assert ["calc/new.py", "calc/ops.py", "image.bin", "tests/test_ops.py"] == names
    assert b"GIT binary patch" in patch and b"new mode 100755" in patch


class TestGates:
    def prove(self, calc: Calc, task: SelfbenchTask) -> prove.Proof:
        prepared, manifest = prepare(calc, task)
        assert "ok" == manifest["status"], manifest
        return prove.proof_of(task, calc.repo, prepared, "bubblewrap")

    def test_a_sound_task(self, calc: Calc) -> None:
        """Nothing fails, the solution passes, its tests report: counted, for others to be held against."""
        proof = self.prove(calc, calc.task())
        assert (True, "", True) == (proof.accepted, proof.reason, proof.found["reports"])
        assert {"fail_to_pass": 2, "fail_to_pass_repeat": 2, "pass_to_pass": 3} == proof.found["least"]

    @pytest.mark.parametrize(
        ("fields", "told"),
        [
            ({"difficulty": "hard", "passToPass": ["tests/test_ops.py"]}, "hard mode requires at least 100"),
            ({"failToPass": ["tests/test_ops.py"]}, "nop=false, oracle=true: nop: the fail-to-pass tests pass"),
            ({"passToPass": ["tests/test_none.py"]}, "nop=false, oracle=false: nop: the pass-to-pass tests fail"),
            ({"testCommand": "echo ECONNRESET; exit 1; : {tests}", "passToPass": [], "difficulty": "easy"},
             "oracle: looks like the network"),
            ({"testCommand": "test ! -e /tmp/once && touch /tmp/once; : {tests}; test -e calc/cli.py && "
              "test $(wc -l < /tmp/n || echo 0) -lt 1; x=$?; echo >> /tmp/n; exit $x",
              "passToPass": [], "difficulty": "easy"}, "oracle: flaky"),
        ],
    )  # fmt: skip
    def test_what_is_refused(self, calc: Calc, fields: dict[str, Any], told: str) -> None:
        """Audit first, then what the two runs show, told apart."""
        proof = self.prove(calc, calc.task(**fields))
        assert ("gate_failed", True) == (proof.reason, told in proof.message), proof.message

    def test_a_runner_that_does_not_report(self, calc: Calc) -> None:
        """Where the solution passes without a report, exit codes decide."""
        command = "test -e calc/cli.py && : {tests}"
        task = calc.task(testCommand=command, passToPass=[], difficulty="easy")
        proof = self.prove(calc, task)
        assert (True, False, {}) == (proof.accepted, proof.found["reports"], proof.found["least"])

    def test_the_command(self, calc: Calc, capsys: pytest.CaptureFixture[str]) -> None:
        """It ends with 0 for a sound task and with 1 for another."""
        words = ["gates", str(calc.task().folder), "--repo", str(calc.repo), "--json"]
        assert 0 == cli.main(words)
        said = json.loads(capsys.readouterr().out)
        assert (True, None, 1, 0) == (said["accepted"], said["reason"], said["oracle"]["reward"], said["nop"]["reward"])
        calc.task(failToPass=["tests/test_ops.py"])
        assert 1 == cli.main(words)


def test_gold_only_names_block(calc: Calc) -> None:
    """Coupling comes last: a name that hidden tests assert and only the solution says refuses the task."""
    hidden = {**HIDDEN, "tests/test_field.py": "def see(x):\n    assert x.routing_strategy\n"}
    gold = GOLD + changes(calc.repo, {"calc/field.py": "class Field:\n    routing_strategy: int = 1\n"})
    for prompt, reason in (("Teach it.", "gate_failed"), ("Teach it routing_strategy.", "")):
        task = calc.task(gold=gold, hidden=hidden, prompt=prompt)
        prepared, _ = prepare(calc, task)
        proof = prove.proof_of(task, calc.repo, prepared, "bubblewrap")
        assert (reason, bool(reason)) == (proof.reason, "gold-only field_name" in proof.message)
