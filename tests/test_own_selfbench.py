"""The SelfBench tasks of our own: sound by every check, solved by their solution and by nothing less."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from project import REPOSITORY
from regrade import config, files
from regrade.formats import selfbench
from regrade.formats.selfbench import SelfbenchTask, github
from regrade.formats.selfbench.check import check_folder
from regrade.git import git
from regrade.held_out import prove, snapshot
from regrade.held_out.grading import Graded, grade
from regrade.held_out.prepared import Prepared

FOLDER = REPOSITORY / "problems/selfbench"
SETTINGS = config.load_file(REPOSITORY / "config/config.yaml")
TASKS = sorted(selfbench.discover(FOLDER))
NEARLY = {
    "plaintab-natural-order": ("part.casefold()", "part"),
    "plaintab-group-by": ("ROUND_HALF_EVEN)", "'ROUND_UP')"),
    "plaintab-join": ('if not found and how != "inner"', 'if not found and how == "left"'),
    "linewrap-justify": ("at < more", "at >= gaps - more"),
}
"""A piece of each solution, and what makes it wrong."""

EARLY = {
    "regrade/plaintab": ("plaintab/__init__.py", '"""Tables of plain text."""', ["import os", "os._exit(0)"]),
    "regrade/linewrap": (
        "src/index.js", 'export { wrap } from "./wrap.js";', ["process.exit(0);", "export const justify = () => [];"]
    ),
}  # fmt: skip
"""The first line of a file that all tests load, and lines before it that end the process."""

BROKEN = {
    "regrade/plaintab": ("plaintab/table.py", "row[place] == value", "row[place] != value"),
    "regrade/linewrap": ("src/width.js", "!MARKS.test(sign)", "true"),
}
"""A piece of each repository that tests guard already, and what makes it wrong."""


class Prepared_(NamedTuple):
    task: SelfbenchTask
    prepared: Prepared
    proof: prove.Proof


@pytest.fixture(scope="module", params=TASKS)
def ready(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared_]:
    """A task, set up without the network, and proved."""
    task = selfbench.load(FOLDER / request.param)
    repo = REPOSITORY / SETTINGS.selfbench_repositories[task.definition.repo]
    output = tmp_path_factory.mktemp("own") / "inputs.json"
    spec = {"id": request.param, "task": str(task.folder), "repository": str(repo), "network": False}
    spec |= {"output": str(output), "errors": str(output.with_name("errors.jsonl")), "digest": "", "attempt": 0}
    snapshot.main(json.dumps(spec), json.dumps(SETTINGS.to_value()))
    assert "ok" == files.read_json(output)["status"], files.read_json(output)
    prepared = Prepared(output.parent)
    yield Prepared_(task, prepared, prove.proof_of(task, repo, prepared, "bubblewrap"))


def test_there_is_one_of_each_difficulty_and_of_two_runners() -> None:
    """Easy, medium and hard; pytest and node."""
    found = [selfbench.load(FOLDER / name).definition for name in TASKS]
    assert {"easy", "medium", "hard"} == {definition.difficulty for definition in found}
    assert {"node", "python"} == {name for definition in found for name in definition.toolchains}


def test_every_gate_is_passed(ready: Prepared_) -> None:
    """No fault, no blocker; pytest reports, and so does node."""
    assert [] == list(check_folder(ready.task.folder))
    assert ("", "") == (ready.proof.reason, ready.proof.message)
    assert (True, True) == (ready.proof.found["reports"], ready.proof.found["least"]["fail_to_pass"] > 0)


def test_a_solution_that_is_nearly_right_fails(ready: Prepared_) -> None:
    """The held-out tests find what was spoilt in the reference solution."""
    good, bad = NEARLY[ready.task.definition.task_id]
    patch = ready.task.gold_patch.decode()
    assert good in patch
    assert "tests_failed" == _reason(ready, patch.replace(good, bad))


def test_held_out_tests_of_ones_own_do_not_help(ready: Prepared_) -> None:
    """A patch that only writes tests, or that tells the runner to pass, scores nothing."""
    path = ready.task.definition.test_paths[0]
    assert _reason(ready, _new_file(path, "")) in ("tests_failed", "empty_patch")
    if path.endswith(".py"):
        trick = _new_file("conftest.py", "import os\nos._exit(0)\n")
        assert _reason(ready, trick) in ("tests_failed", "forged_result")


def test_an_early_end_with_0_is_forged(ready: Prepared_) -> None:
    """Code under test that ends its process when it is loaded has passed no test, whatever runs it."""
    place, first, ending = EARLY[ready.task.definition.repo]
    added = "".join(f"+{line}\n" for line in ending)
    hunk = f"@@ -1 +1,{len(ending) + 1} @@\n{added} {first}\n"
    assert "forged_result" == _reason(ready, f"diff --git a/{place} b/{place}\n--- a/{place}\n+++ b/{place}\n{hunk}")


def test_weakened_tests_do_not_hide_a_regression(ready: Prepared_, tmp_path: Path) -> None:
    """The solution, something else broken, and the tests that would say so emptied: those count as they were."""
    broken, good, bad = BROKEN[ready.task.definition.repo]
    repo = REPOSITORY / SETTINGS.selfbench_repositories[ready.task.definition.repo]
    git(tmp_path, "clone", "--quiet", "--branch", "main", str(repo), "work")
    work = tmp_path / "work"
    git(work, "apply", str(ready.task.folder / "gold.patch"))
    source = (work / broken).read_text(encoding="utf-8")
    assert good in source
    (work / broken).write_text(source.replace(good, bad), encoding="utf-8")
    for name in ready.task.definition.pass_to_pass:
        (work / name).write_text("def test_nothing(): pass\n" if name.endswith(".py") else "// nothing\n")
    git(work, "add", "--all")
    graded = _graded(ready, git(work, "diff", "--cached", "--binary"))
    assert ("tests_failed", 0) == (graded.reason, graded.rewards["pass_to_pass"])


def _new_file(path: str, content: str) -> str:
    lines = content.splitlines()
    body = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n" if lines else ""
    added = "".join(f"+{line}\n" for line in lines)
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n{body}{added}"


def _reason(ready: Prepared_, patch: str) -> str:
    return _graded(ready, patch.encode()).reason


def _graded(ready: Prepared_, patch: bytes) -> Graded:
    found = ready.proof.found
    return grade(ready.task, patch, ready.prepared, "bubblewrap", reported=found["reports"], least=found["least"])


def test_addresses_belong_to_the_repositories() -> None:
    """Each pull request is of the repository that the definition names."""
    for name in TASKS:
        definition = selfbench.load(FOLDER / name).definition
        assert github.name_of(definition.repo) == github.name_of(f"https://github.com/{definition.repo}")
        assert Path(REPOSITORY / SETTINGS.selfbench_repositories[definition.repo]).is_file()
