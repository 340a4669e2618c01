"""The faults of the paths in a task.yaml: each is relative, inside the task folder, and there."""

import re
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from regrade.errors import Fault
from regrade.files import followed

GRADER = "grader/hidden.py"
FILES = ("problem_statement", "structural_verifier", "workspace_generator", "hidden_grader", "reference_output")


def faults(manifest: dict[str, Any], folder: Path, source: str) -> Iterator[Fault]:
    """Every fault of the paths in a manifest; values that are no strings are somebody else's."""
    for field, value in _strings(manifest, *FILES, "workspace_dir", "output_artifact"):
        found = spelling(value) or _looked_at(field, value, folder, manifest)
        if found:
            yield Fault(source, field, f"is {value!r:.300}, {found}")


def _looked_at(field: str, value: str, folder: Path, manifest: dict[str, Any]) -> str | None:
    """What is wrong with a path where it leads, or None."""
    try:
        outside = _outside(folder, value) if field != "output_artifact" else None
        return outside or _by_field(field, value, folder, manifest)
    except OSError as error:
        return f"expected a name that a file can have: {error.strerror}"


def _strings(manifest: dict[str, Any], *fields: str) -> Iterator[tuple[str, str]]:
    return ((field, manifest[field]) for field in fields if isinstance(manifest.get(field), str))


def spelling(value: str) -> str | None:
    """What is wrong with a relative path as it is written, or None."""
    if not value.strip():
        return "expected a path"
    if re.search(r"[\x00-\x1f\x7f]", value):
        return "expected a path without line ends and other control characters"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "expected a path in UTF-8"
    if value.startswith("/"):
        return "expected a relative path"
    if ".." in value.split("/"):
        return "expected a path without '..'"
    return None


def _outside(folder: Path, value: str) -> str | None:
    """Whether links on the way lead out of the folder. Only a path with links is worth resolving."""
    place = folder
    for part in PurePosixPath(value).parts:
        place = place / part
        if place.is_symlink():
            try:
                inside = followed(folder / value).is_relative_to(folder.resolve())
            except OSError:
                return "expected a file, found links that go in circles"
            return None if inside else "expected a path inside the task's folder, found a link that leaves it"
    return None


def _by_field(field: str, value: str, folder: Path, manifest: dict[str, Any]) -> str | None:
    workspace = manifest.get("workspace_dir")
    workspace = PurePosixPath(workspace) if isinstance(workspace, str) else None
    path = PurePosixPath(value)
    match field:
        case "output_artifact":
            return _artifact(value, folder / workspace if workspace else None)
        case "workspace_dir":
            return _workspace(path, folder)
        case "hidden_grader" if path != PurePosixPath(GRADER):
            return f"expected {GRADER}"
        case "workspace_generator" if workspace and not _below(path, workspace):
            return f"expected a script below the workspace folder, {workspace}/"
        case "reference_output" if workspace and _below(path, workspace):
            return "expected a file that the agent does not get: put it into grader/"
    return _file(folder / value)


def _below(path: PurePosixPath, folder: PurePosixPath) -> bool:
    return path.is_relative_to(folder) and path != folder


def _artifact(value: str, workspace: Path | None) -> str | None:
    if not PurePosixPath(value).parts or value.endswith(("/", "/.")):
        return "expected a file inside the workspace"
    if workspace and (workspace / value).is_dir():
        return "expected a file, found a folder of that name among the inputs"
    return None


def _workspace(path: PurePosixPath, folder: Path) -> str | None:
    grader = PurePosixPath(GRADER).parent
    if grader.is_relative_to(path) or path.is_relative_to(grader):
        return "expected a folder of its own: the agent gets everything in it"
    if not (folder / path).exists():
        return "no such folder (git keeps no empty ones: put a file into it)"
    return None if (folder / path).is_dir() else "expected a folder, found a file"


def _file(path: Path) -> str | None:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "no such file"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None if stat.S_ISREG(mode) else "expected a regular file"
