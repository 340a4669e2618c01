"""The lists of packages say the same."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME = {re.split(r"[=<>~]", name)[0] for name in PROJECT["dependencies"]}
TEST = set(PROJECT["optional-dependencies"]["test"])
WEIGHTS = set(PROJECT["optional-dependencies"]["weights"])


def lock(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;]+)", (ROOT / name).read_text(), re.M))


def environment() -> dict[str, str]:
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    return dict(line.split("==") for line in listed[-1]["pip"] if "==" in line)


def test_environment_yml_has_the_direct_dependencies_in_the_locks_versions() -> None:
    """environment.yml pins each direct dependency of pyproject.toml, but the weights, as requirements-test.txt does."""
    assert RUNTIME | TEST == set(environment())
    assert {name: lock("requirements-test.txt")[name] for name in environment()} == environment()


def test_the_runtime_lock_is_part_of_the_test_lock() -> None:
    """Whatever requirements.txt pins, requirements-test.txt pins to the same version."""
    runtime, test = lock("requirements.txt"), lock("requirements-test.txt")
    assert {name: test.get(name) for name in runtime} == runtime
    assert RUNTIME | WEIGHTS <= set(runtime)


@pytest.mark.parametrize("name", sorted(TEST))
def test_the_runtime_lock_leaves_test_packages_out(name: str) -> None:
    """A package that only tests and figures need is not installed to run a benchmark."""
    assert name not in lock("requirements.txt")


def test_what_our_tasks_call_is_there_to_run_them() -> None:
    """Modules that commands of our own tasks run by `python -m` come with Python or are in the runtime lock."""
    commands = [" ".join(command) for suite in ROOT.glob("problems/suites/*.yaml") for command in _test_commands(suite)]
    for path in ROOT.glob("problems/selfbench/*/definition.json"):
        definition = json.loads(path.read_text("utf-8"))
        commands += [definition["setupCommand"], definition["testCommand"]]
    called = {name for command in commands for name in re.findall(r"python\}? -m (\w+)", command)}
    assert "pytest" in called
    assert called <= set(lock("requirements.txt")) | set(sys.stdlib_module_names)


def _test_commands(suite: Path) -> list[list[str]]:
    tasks = yaml.safe_load(suite.read_text("utf-8"))
    tasks = tasks["tasks"] if isinstance(tasks, dict) else tasks
    return [task["scoring"]["test_command"] for task in tasks if "test_command" in task["scoring"]]


def test_the_packages_that_users_asked_for_are_there() -> None:
    """The environment holds snakemake, pyyaml, tomli, pandas, jsonschema and pytest."""
    assert {"snakemake", "pyyaml", "tomli", "pandas", "jsonschema", "pytest"} <= set(environment())
