"""Fixtures that more than one test file uses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from project import Project

NOBODY = {"oracle": {"harness": "oracle"}, "nop": {"harness": "nop"}}


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[..., Project]:
    """Make a tiny project; without `arms` it has oracle and nop."""

    def make(arms: dict[str, Any] | None = None, models: dict[str, Any] | None = None, **config: Any) -> Project:
        return Project(tmp_path, arms or NOBODY, models, **config)

    return make
