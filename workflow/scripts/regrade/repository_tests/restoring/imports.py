"""Which files Python loads although no code of the repository asks for them, by their names."""

import importlib.machinery
import sys
from collections.abc import Iterable
from pathlib import PurePosixPath

RUNNER_MODULES = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"})
"""Modules that pytest consists of; one of these names at the root would be loaded instead."""

_SUFFIXES = tuple(importlib.machinery.all_suffixes())


def takes_over(path: str, roots: Iterable[str]) -> bool:
    """Whether a file that was not there before would be loaded by itself, or in place of another (`shadows`)."""
    return loads_by_itself(path) or shadows(path, roots)


def loads_by_itself(path: str) -> bool:
    """Whether Python or pytest may load a file that nobody imports; the entry points of a distribution are such."""
    parts = PurePosixPath(path.lower()).parts
    return parts[-1] == "usercustomize.py" or any(part.endswith((".dist-info", ".egg-info")) for part in parts[:-1])


def shadows(path: str, roots: Iterable[str]) -> bool:
    """Whether a file stands where a module of the standard library, or of pytest, is looked for first.

    `roots` are the folders, "" for the repository's own, that come first on the module search path.
    """
    return any(
        is_module(below, sys.stdlib_module_names | RUNNER_MODULES) for root in roots if (below := _below(path, root))
    )


def is_module(parts: list[str], names: frozenset[str]) -> bool:
    """Whether the parts are a module of one of the names, or what makes a folder a package of that name."""
    if parts[0].split(".")[0] not in names:
        return False
    alone = len(parts) == 1 and parts[0].endswith(_SUFFIXES)
    return alone or (len(parts) == 2 and parts[1].startswith("__init__.") and parts[1].endswith(_SUFFIXES))


def _below(path: str, root: str) -> list[str]:
    pure = PurePosixPath(path)
    return list(pure.relative_to(root).parts) if pure.is_relative_to(root) else []
