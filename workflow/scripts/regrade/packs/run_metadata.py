"""What a user tells about a run: runtime, model, operating conditions, notes."""

import json
from pathlib import Path
from typing import Any

from regrade.errors import RegradeError

SECTIONS = ("runtime", "model", "operating_conditions")


def load(path: Path) -> dict[str, Any]:
    """The checked content of a metadata file; unknown keys are kept. Raises RegradeError for anything else."""
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig"), parse_constant=_refuse)
    except OSError as error:
        raise RegradeError(f"run metadata file {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RegradeError(f"run metadata file {path} is not valid JSON: {error}") from error
    return check(value, path)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")


def check(value: Any, source: Path) -> dict[str, Any]:
    """The value of a metadata file if it has the right shape. Raises RegradeError."""
    if not isinstance(value, dict):
        raise RegradeError(f"expected JSON object in run metadata file {source}")
    for name in SECTIONS:
        if not isinstance(value.get(name), dict | None):
            raise RegradeError(f"run metadata field {name!r} must be a JSON object in {source}")
    if not isinstance(value.get("notes"), str | None):
        raise RegradeError(f"run metadata field 'notes' must be a string in {source}")
    return value


def to_text(value: dict[str, Any]) -> str:
    """The content of run-metadata.json."""
    return json.dumps(value, sort_keys=True, indent=2) + "\n"
