"""Paths that belong to the tests and to what runs them: a model's changes to them count nowhere."""

from pathlib import PurePosixPath

_ANYWHERE = ("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "sitecustomize.py")
_AT_THE_ROOT = ("pyproject.toml", "setup.cfg")


def is_protected(path: str) -> bool:
    """Whether a path, with either slash and in any case, is one of the tests or of their configuration."""
    parts = [part for part in PurePosixPath(path.replace("\\", "/").lower()).parts if part not in (".", "/")]
    if not parts:
        return False
    return "tests" in parts or parts[-1] in _ANYWHERE or (len(parts) == 1 and parts[0] in _AT_THE_ROOT)


def is_outside(path: str) -> bool:
    """Whether a path leads out of the repository, or into what git keeps about it."""
    plain = path.replace("\\", "/")
    has_drive = len(plain) > 1 and plain[1] == ":"
    parts = PurePosixPath(plain.lower()).parts
    return plain.startswith("/") or has_drive or "\0" in plain or bool({"..", ".git"} & set(parts))


def loads_by_itself(path: str) -> bool:
    """Whether Python or pytest would load a file without being asked: what a model adds of that kind is left out."""
    parts = PurePosixPath(path.lower()).parts
    kinds = (".dist-info", ".egg-info")
    return parts[-1].endswith(".pth") or parts[-1] == "usercustomize.py" or parts[0].endswith(kinds)


def is_test_file(path: str) -> bool:
    """Whether pytest would collect a file by its name."""
    name = PurePosixPath(path.lower()).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
