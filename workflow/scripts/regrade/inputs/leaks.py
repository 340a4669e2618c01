"""Looking for anything of the grader's among a task's inputs, before an agent sees them."""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from regrade import digests
from regrade.formats.artifact import ArtifactTask
from regrade.inputs.survey import regular_files

TRIVIAL = 2
"""Bytes, but for blanks and line ends, up to which equal content says nothing: `{}`, `[]`, `0`, an empty
`__init__.py` stand in both folders by chance, and hide nothing that an agent could not write itself."""


def find(inputs: Iterable[tuple[str, Path]], task: ArtifactTask) -> Iterator[tuple[str, str]]:
    """(name, why) of every input, given as (name, path), that must not be one."""
    secrets = _secrets(task)
    sizes = {size for size, _ in secrets}
    own = task.generator.relative_to(task.workspace).as_posix() if task.generator else None
    for name, path in inputs:
        size = path.stat().st_size
        twin = secrets.get((size, digests.of_file(path))) if size in sizes else None
        for part in PurePosixPath(name).parts:
            if part == "hidden.py":
                yield name, "has the grader's name, hidden.py"
            if part.startswith("reference_output"):
                yield name, "has the reference's name, reference_output"
        if name == own:
            yield name, "is the generator"
        elif twin:
            yield name, f"has the same bytes as {twin}"


def _secrets(task: ArtifactTask) -> dict[tuple[int, str], str]:
    """(size, digest) of all that belongs to the grader, and what it is called."""
    places = [(f"grader/{name}", path) for name, path in regular_files(task.grader.parent)]
    places.append((task.reference.relative_to(task.folder).as_posix(), task.reference))
    if task.generator:
        places.append(("the generator", task.generator))
    return {(path.stat().st_size, digests.of_file(path)): name for name, path in places if not _is_trivial(path)}


def _is_trivial(path: Path) -> bool:
    return path.stat().st_size < 64 and len(path.read_bytes().strip()) <= TRIVIAL
