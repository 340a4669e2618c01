"""Stage `dataset`: the rows of a data set as tasks, one file.

    python -m regrade.inputs.dataset SPEC      JSON, as the rule hands it over

SPEC: id, fields (the task as written), file, output, errors, trusted, digest, attempt. Needs the package `datasets`. A
data set that cannot be loaded makes one task with a fault, and is tried again.
"""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regrade import files, specification
from regrade.errors import InputsError, ending_in_one_line
from regrade.formats.suite import SuiteTask, fixtures
from regrade.formats.suite.dataset import RowFault, expand, local_dataset

SUFFIXES = {".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}
"""Kinds of local files, by the builder of `datasets` that reads them."""


def main(spec_text: str) -> None:
    """Run the stage for one specification (plan.suite.dataset_spec)."""
    spec = specification.read(spec_text)
    try:
        rows = expand(spec["fields"], load(spec))
        if not rows:
            raise InputsError(f"{spec['id']}: the data set has no rows")
    except (InputsError, RowFault) as error:
        rows = [_broken(spec, str(error))]
    files.write_jsonl(Path(spec["output"]), rows)


def _broken(spec: dict[str, Any], message: str) -> dict[str, Any]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    row = {"stage": "dataset", "digest": spec["digest"], "at": at, "reason": "inputs_error", "message": message}
    files.append_jsonl(Path(spec["errors"]), row)
    fields = {name: value for name, value in spec["fields"].items() if name not in ("dataset", "template")}
    return {"id": spec["id"], "fields": {**fields, "prompt": ""}, "fault": message}


def load(spec: dict[str, Any]) -> Any:
    """The rows of a data set, by the library `datasets`. Raises InputsError saying what failed."""
    asked = spec["fields"]["dataset"]
    name = asked.get("name")
    if not isinstance(name, str) or not name:
        raise InputsError(f"{spec['id']}: dataset has no name, expected a data set's name or a local file or folder")
    if asked.get("trust_remote_code") and not spec["trusted"]:
        raise InputsError(
            f"{spec['id']}: dataset.trust_remote_code is true for {name!r}, expected false: it runs code that somebody "
            f"wrote. To allow it for this data set, add {name!r} to trusted_datasets in the configuration"
        )
    place = local_dataset(SuiteTask(spec["id"], "", spec["fields"], spec["file"]))
    if place is None and Path(name).suffix in SUFFIXES:
        looked = fixtures.tried(name, Path(spec["file"]))
        raise InputsError(f"{spec['id']}: dataset.name: is {name!r}, expected a file that is there; looked at {looked}")
    try:
        return _load_local(place, asked) if place else _load_named(name, asked)
    except ImportError as error:
        raise InputsError(
            f"{spec['id']}: needs the package `datasets`, which is not installed: pip install 'regrade[datasets]'"
        ) from error
    except InputsError:
        raise
    except Exception as error:
        raise InputsError(f"{spec['id']}: data set {name!r}: {type(error).__name__}: {str(error)[:500]}") from error


def _load_named(name: str, asked: dict[str, Any]) -> Any:
    import datasets  # type: ignore[import-untyped]

    more = {"trust_remote_code": True} if asked.get("trust_remote_code") else {}
    return datasets.load_dataset(name, asked.get("subset"), split=asked.get("split", "test"), **more)


def _load_local(place: Path, asked: dict[str, Any]) -> Any:
    """A local file, or of a folder the files that bear the split's name, else all."""
    import datasets

    found = sorted(path for path in _files(place, asked) if path.suffix in SUFFIXES)
    split = asked.get("split", "test")
    named = [path for path in found if split in path.stem.replace("-", "_").split("_") or path.parent.name == split]
    chosen = named or found
    kinds = {SUFFIXES[path.suffix] for path in chosen}
    if len(kinds) != 1:
        what = "no such file" if not kinds else f"files of the kinds {', '.join(sorted(kinds))}"
        raise InputsError(f"{place}: has {what}, expected files of one kind: {', '.join(SUFFIXES)}")
    # As a stream, so that nothing is copied into the library's own cache.
    data_files = [str(path) for path in chosen]
    return datasets.load_dataset(kinds.pop(), data_files=data_files, split="train", streaming=True)


def _files(place: Path, asked: dict[str, Any]) -> list[Path]:
    if place.is_file():
        return [place]
    inside = place / asked["subset"] if asked.get("subset") else place
    return [path for path in inside.rglob("*") if path.is_file()]


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    with ending_in_one_line("the rows"):
        main(*sys.argv[1:])
