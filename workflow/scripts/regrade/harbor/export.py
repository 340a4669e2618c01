"""Bundles packed for others: one tar.gz with a manifest and, for each task, a tar.gz that holds `harbor-task/`."""

import gzip
import io
import json
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from regrade import __version__, digests, files
from regrade.errors import RegradeError
from regrade.formats.selfbench.audit import audit
from regrade.formats.selfbench.load import SelfbenchTask
from regrade.harbor.bundle import GENERATOR, compile_task
from regrade.harbor.task_toml import COMPILER_REVISION, HARBOR_SCHEMA_VERSION

INSIDE = "harbor-task"
_MANIFEST = "manifest.json"
_NO_TIME = 0


def export(name: str, tasks: Iterable[tuple[SelfbenchTask, Path]], out: Path) -> list[str]:
    """Compile tasks, each from its repository, and pack them into `out`; their ids, sorted.

    Raises RegradeError for a task that its audit refuses, and what compile_task raises.
    """
    packed: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="regrade-export-") as place:
        for task, repo in tasks:
            _require_accepted(task)
            bundle = Path(place) / "bundle" / task.definition.task_id
            compile_task(task, repo, bundle)
            packed[task.definition.task_id] = _packed({INSIDE: bundle})
    ids = sorted(packed)
    content = {_MANIFEST: manifest(name, {task_id: packed[task_id] for task_id in ids})}
    files.write_bytes(out, _archive(content | {f"tasks/{task_id}.tar.gz": packed[task_id] for task_id in ids}))
    return ids


def _require_accepted(task: SelfbenchTask) -> None:
    if reason := audit(task).reason:
        raise RegradeError(f"{task.folder}: the audit refuses it ({reason}), an export holds accepted tasks alone")


def manifest(name: str, packed: dict[str, bytes]) -> bytes:
    """What an export says of itself."""
    value = {
        "schemaVersion": 1,
        "runId": name,
        "version": {
            "generator": f"{GENERATOR} {__version__}",
            "compilerRevision": COMPILER_REVISION,
            "harborSchemaVersion": HARBOR_SCHEMA_VERSION,
        },
        "acceptedCount": len(packed),
        "tasks": [{"taskId": task_id, "sha256": digests.of_bytes(data)} for task_id, data in packed.items()],
    }
    return f"{json.dumps(value, indent=2)}\n".encode()


def differences(path: Path) -> list[str]:
    """What in an export is not what its manifest says, a line each. Raises RegradeError for no export at all."""
    content = _read(path)
    try:
        listed = {str(task["taskId"]): str(task["sha256"]) for task in json.loads(content[_MANIFEST])["tasks"]}
    except (KeyError, TypeError, ValueError, RecursionError):
        raise RegradeError(f"{path}: has no readable {_MANIFEST} with tasks, expected an export") from None
    return list(_differences(listed, content))


def _differences(listed: dict[str, str], content: dict[str, bytes]) -> Iterator[str]:
    found = {name.removeprefix("tasks/").removesuffix(".tar.gz"): name for name in content if name != _MANIFEST}
    for task_id, sha256 in listed.items():
        if task_id not in found:
            yield f"{task_id}: tasks/{task_id}.tar.gz is missing"
        elif (is_now := digests.of_bytes(content[found[task_id]])) != sha256:
            yield f"{task_id}: sha256 is {is_now}, expected {sha256}"
    for task_id, name in found.items():
        if task_id not in listed:
            yield f"{name}: is not in {_MANIFEST}"


def _read(path: Path) -> dict[str, bytes]:
    """The files of a tar.gz by their names."""
    try:
        with tarfile.open(path, "r:gz") as archive:
            return {member.name: _content(archive, member) for member in archive if not member.isdir()}
    except OSError as error:
        raise RegradeError(f"{path}: cannot be read: {error.strerror or error}, expected an export") from None
    except (tarfile.TarError, EOFError, ValueError, zlib.error) as error:
        raise RegradeError(f"{path}: is no whole tar.gz ({error}), expected an export") from None


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member) if member.isfile() else None
    return stream.read() if stream else b""


def _packed(folders: dict[str, Path]) -> bytes:
    """Folders as a tar.gz, under the names given."""
    content, modes = {}, {}
    for prefix, folder in folders.items():
        for name, entry in digests.walk(folder):
            content[f"{prefix}/{name}"] = Path(entry.path).read_bytes()
            modes[f"{prefix}/{name}"] = entry.stat().st_mode & 0o777
    return _archive(content, modes)


def _archive(content: dict[str, bytes], modes: dict[str, Any] | None = None) -> bytes:
    """A tar.gz that depends on nothing but names, bytes and modes."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in content.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(data), (modes or {}).get(name, 0o644), _NO_TIME
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(stream.getvalue(), mtime=_NO_TIME)
