"""What an artifact task is, and reading one from its folder."""

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regrade import yaml_file
from regrade.config import CATEGORIES
from regrade.errors import Fault, FaultsError
from regrade.formats.artifact import manifest, places

MANIFEST = "task.yaml"


@dataclass(frozen=True)
class ArtifactTask:
    """One task whose manifest has no fault. Paths lie below `folder`, as it was given; `output_artifact` is
    relative to a workspace; a budget of 0 is no limit."""

    id: str
    category: str
    slug: str
    difficulty: str
    tags: tuple[str, ...]
    folder: Path
    prompt: Path
    workspace: Path
    output_artifact: str
    verifier: Path | None
    generator: Path | None
    grader: Path
    reference: Path
    max_code_runs: int
    max_wall_seconds: int


def load(folder: Path, categories: Collection[str] = CATEGORIES) -> ArtifactTask:
    """The task in a folder. Raises FaultsError with every fault of its manifest."""
    value, faults = examine(folder, categories)
    if faults:
        raise FaultsError(faults)
    return build(value, folder)


def examine(folder: Path, categories: Collection[str]) -> tuple[Any, list[Fault]]:
    """What a folder's manifest says (None if it cannot be parsed), and every fault in it."""
    source = str(folder / MANIFEST)
    if (folder / MANIFEST).exists() and not (folder / MANIFEST).is_file():
        return None, [Fault(source, "", "expected a regular file")]
    try:
        value = yaml_file.load(folder / MANIFEST)
    except FaultsError as error:
        return None, error.faults
    faults = list(manifest.faults(value, source, *names(folder), categories))
    if isinstance(value, dict):
        faults += places.faults(value, folder, source)
    return value, faults


def names(folder: Path) -> tuple[str, str]:
    """The category and the slug that a task folder's place says."""
    place = absolute(folder)
    return place.parent.name, place.name


def absolute(folder: Path) -> Path:
    """An absolute path without `..` in which links keep their names, since a task's place says its id."""
    return Path(os.path.abspath(folder))


def build(value: dict[str, Any], folder: Path) -> ArtifactTask:
    """The task that a manifest without faults describes."""

    def optional(field: str) -> Path | None:
        return folder / value[field] if field in value else None

    return ArtifactTask(
        id=value["instance_id"],
        category=value["category"],
        slug=names(folder)[1],
        difficulty=value["difficulty"],
        tags=tuple(value.get("tags") or ()),
        folder=folder,
        prompt=folder / value["problem_statement"],
        workspace=folder / value["workspace_dir"],
        output_artifact=str(Path(value["output_artifact"])),
        verifier=optional("structural_verifier"),
        generator=optional("workspace_generator"),
        grader=folder / value["hidden_grader"],
        reference=folder / value["reference_output"],
        **value["execution_budget"],
    )
