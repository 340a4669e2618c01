"""Does the matcher in Python follow the rules?"""

import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from matching import problems
from workspace_code import run, verify

START = """
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module("offers", run_name="__main__", alter_sys=True)
"""


def checks(workspace: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield from problems(Path(folder), partial(_program, workspace))


def _program(workspace: Path, tables: list[str]) -> tuple[bytes, str]:
    return run([sys.executable, "-I", "-B", "-c", START, str(workspace), *tables], workspace)


if __name__ == "__main__":
    sys.exit(verify("fixtures/offers-python", ["tests/**/*", "examples/**/*", "README.md"], checks))
