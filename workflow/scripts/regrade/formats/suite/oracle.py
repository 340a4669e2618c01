"""The reference answers of a suite: `oracle/<collection>.yaml` beside the task files maps ids to responses."""

from pathlib import Path

from regrade import yaml_file
from regrade.errors import Fault, FaultsError

Reference = str | list[str]
"""The text of an answer; for an agent loop, and for several samples, a list of texts in their order."""


def path_of(folder: Path, stem: str) -> Path:
    """Where the reference answers to the tasks of one file stand."""
    return folder / "oracle" / f"{stem}.yaml"


def load(path: Path) -> dict[str, Reference]:
    """The references of one file by task id; none if there is no file. Raises FaultsError for any other shape."""
    if not path.exists():
        return {}
    value = yaml_file.load(path)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FaultsError([Fault(str(path), "", f"is a {type(value).__name__}, expected a mapping of ids to answers")])
    faults = [
        Fault(str(path), identifier, f"is {said!r:.100}, expected a text, or a list of texts for turns or samples")
        for identifier, said in value.items()
        if not _is_reference(said)
    ]
    if faults:
        raise FaultsError(faults)
    return value


def _is_reference(said: object) -> bool:
    return isinstance(said, str) or (isinstance(said, list) and bool(said) and all(isinstance(x, str) for x in said))
