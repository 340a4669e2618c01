"""The part of a reference solution that changes what has to be installed before the tests can run."""

import re
from pathlib import PurePosixPath

from regrade.formats.selfbench import diffs

_MANIFESTS = frozenset(
    {
        *("package.json", "package-lock.json", "npm-shrinkwrap.json", "bun.lock", "bun.lockb"),
        *("pnpm-lock.yaml", "yarn.lock", "pyproject.toml", "uv.lock", "poetry.lock", "Pipfile", "Pipfile.lock"),
        *("go.mod", "go.sum", "Cargo.toml", "Cargo.lock"),
    }
)
_REQUIREMENTS = re.compile(r"requirements.*\.txt", re.DOTALL)


def is_manifest(path: str) -> bool:
    """Whether a file lists dependencies, by its name and in its case."""
    name = PurePosixPath(path).name
    return name in _MANIFESTS or _REQUIREMENTS.fullmatch(name) is not None


def setup_patch(gold_patch: bytes) -> bytes | None:
    """The sections of a patch that leave a dependency manifest or lock file behind, None if there is no such."""
    kept = [section.raw for section in diffs.sections(gold_patch) if is_manifest(section.path)]
    if not kept:
        return None
    # Blanks at the end of the last line are content, and binary data is only whole with an empty line behind it.
    ending = b"\n\n" if b"\nGIT binary patch" in kept[-1] else b"\n"
    return b"".join(kept).rstrip(b"\n") + ending
