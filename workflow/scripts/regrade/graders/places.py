"""Where things stand inside a grader's sandbox and an agent code's."""

from pathlib import Path

from regrade.sandbox import Mode, Mount

WORKSPACE = "/workspace"
GRADER = "/grader"

_FOLDER = Path(__file__).parent
RUNNER = _FOLDER / "runner.py"
CASE_RUNNER = _FOLDER / "case_runner.py"
DRIVER = _FOLDER / "agent_driver.py"
ON_PATH = _FOLDER / "on_path"

PYTHON = ["python", "-s", "-P", "-B"]
"""Isolated like -I but for one thing: -I would ignore PYTHONHASHSEED. The environment is ours alone anyway."""


def program(path: Path) -> Mount:
    """One of our own files or folders, as programs in a sandbox see it."""
    return Mount(path, f"/regrade/{path.name}")


def seen(mount: Mount, mode: Mode) -> str:
    """The path by which a program finds what is mounted: without a sandbox nothing moves."""
    return str(mount.source.absolute()) if mode == "none" else mount.target
