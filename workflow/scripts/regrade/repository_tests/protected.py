"""Paths that belong to the tests and to what runs them: a model's changes to them count nowhere."""

import importlib.machinery
import sys
from collections.abc import Iterable
from pathlib import PurePosixPath

from regrade.repository_tests.restoring.names import PYTEST_FILES

_ANYWHERE = (*PYTEST_FILES, "sitecustomize.py")
_AT_THE_ROOT = ("pyproject.toml", "setup.cfg")
_RUNNER = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"})
"""Modules that pytest consists of; one of these names at the root would be loaded instead."""

_SUFFIXES = tuple(importlib.machinery.all_suffixes())


def is_protected(path: str) -> bool:
    """Whether a path, with either slash and in any case, is one of the tests or of what runs them."""
    parts = [part for part in PurePosixPath(path.replace("\\", "/").lower()).parts if part not in (".", "/")]
    if not parts:
        return False
    named = "tests" in parts or parts[-1] in _ANYWHERE or parts[-1].endswith(".pth")
    return named or (len(parts) == 1 and parts[0] in _AT_THE_ROOT) or _is_module(parts, _RUNNER)


def is_outside(path: str) -> bool:
    """Whether a path leads out of the repository, or into what git keeps about it."""
    plain = path.replace("\\", "/")
    has_drive = len(plain) > 1 and plain[1] == ":"
    parts = PurePosixPath(plain.lower()).parts
    return plain.startswith("/") or has_drive or "\0" in plain or bool({"..", ".git"} & set(parts))


def loads_by_itself(path: str) -> bool:
    """Whether Python or pytest may load a file that nobody imports."""
    parts = PurePosixPath(path.lower()).parts
    return parts[-1] == "usercustomize.py" or parts[0].endswith((".dist-info", ".egg-info"))


def shadows(path: str, roots: Iterable[str]) -> bool:
    """Whether a file stands where a module of the standard library, or of pytest, is looked for first.

    `roots` are the folders, "" for the repository's own, that come first on the module search path.
    """
    return any(_is_module(below, sys.stdlib_module_names | _RUNNER) for root in roots if (below := _below(path, root)))


def _below(path: str, root: str) -> list[str]:
    pure = PurePosixPath(path)
    return list(pure.relative_to(root).parts) if pure.is_relative_to(root) else []


def _is_module(parts: list[str], names: frozenset[str]) -> bool:
    """Whether the parts are a module of one of the names, or what makes a folder a package of that name."""
    if parts[0].split(".")[0] not in names:
        return False
    is_module = len(parts) == 1 and parts[0].endswith(_SUFFIXES)
    return is_module or (len(parts) == 2 and parts[1].startswith("__init__.") and parts[1].endswith(_SUFFIXES))


def decides(path: str) -> bool:
    """Whether a file holds tests or configures them, as far as its name tells."""
    return is_test_file(path) or PurePosixPath(path.lower()).name in (*_ANYWHERE, *_AT_THE_ROOT)


def is_test_file(path: str) -> bool:
    """Whether pytest, left to itself, collects a file by its name."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
