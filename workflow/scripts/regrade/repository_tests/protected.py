"""Paths that belong to the tests and to what runs them: a model's changes to them count nowhere."""

from pathlib import PurePosixPath

from regrade.repository_tests.restoring.imports import RUNNER_MODULES, is_module
from regrade.repository_tests.restoring.names import PYTEST_FILES

_ANYWHERE = (*PYTEST_FILES, "sitecustomize.py")
_AT_THE_ROOT = ("pyproject.toml", "setup.cfg")


def is_protected(path: str) -> bool:
    """Whether a path, with either slash and in any case, is one of the tests or of what runs them."""
    parts = [part for part in PurePosixPath(path.replace("\\", "/").lower()).parts if part not in (".", "/")]
    if not parts:
        return False
    named = "tests" in parts or parts[-1] in _ANYWHERE or parts[-1].endswith(".pth")
    return named or (len(parts) == 1 and parts[0] in _AT_THE_ROOT) or is_module(parts, RUNNER_MODULES)


def is_outside(path: str) -> bool:
    """Whether a path leads out of the repository, or into what git keeps about it."""
    plain = path.replace("\\", "/")
    has_drive = len(plain) > 1 and plain[1] == ":"
    parts = PurePosixPath(plain.lower()).parts
    return plain.startswith("/") or has_drive or "\0" in plain or bool({"..", ".git"} & set(parts))


def decides(path: str) -> bool:
    """Whether a file holds tests or configures them, as far as its name tells."""
    return is_test_file(path) or PurePosixPath(path.lower()).name in (*_ANYWHERE, *_AT_THE_ROOT)


def is_test_file(path: str) -> bool:
    """Whether pytest, left to itself, collects a file by its name."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
