"""What lies in a folder of inputs. Links that stay inside count as what they lead to."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_CACHES = {"__pycache__"}


class Survey(NamedTuple):
    """Files by name (posix path relative to the folder) and folders, sorted; and what cannot be an input, and why."""

    files: dict[str, Path]
    folders: list[str]
    faults: dict[str, str]


def survey(root: Path) -> Survey:
    """Everything below a folder but Python's caches. Raises OSError for a folder that cannot be read."""
    found = Survey({}, [], {})
    real = root.resolve()
    _look(root, "", (real,), real, found)
    return Survey(dict(sorted(found.files.items())), sorted(found.folders), dict(sorted(found.faults.items())))


def _look(folder: Path, prefix: str, around: tuple[Path, ...], root: Path, found: Survey) -> None:
    for entry in os.scandir(folder):
        name, path = prefix + entry.name, Path(entry.path)
        if entry.is_symlink():
            fault = _fault_of_link(path, around, root)
            if fault:
                found.faults[name] = fault
                continue
        if entry.is_dir():
            if entry.name not in _CACHES:
                found.folders.append(name)
                _look(path, f"{name}/", (*around, path.resolve()), root, found)
        elif entry.is_file():
            found.files[name] = path
        else:
            found.faults[name] = "is neither a file nor a folder"


def _fault_of_link(path: Path, around: tuple[Path, ...], root: Path) -> str | None:
    target = str(path.readlink())
    try:
        real = path.resolve(strict=True)
    except FileNotFoundError:
        return f"is a link to {target!r}, which does not exist"
    except (OSError, RuntimeError):
        return f"is a link to {target!r}, which cannot be followed"
    if not real.is_relative_to(root):
        return f"is a link to {target!r}, which leaves the folder"
    return f"is a link to {target!r}, a folder that it lies in itself" if real in around else None


def copy(found: Survey, destination: Path, without: str | None = None) -> None:
    """Copy what a survey found into a new or existing folder: files 0644, or 0755 if executable, folders 0755."""
    for folder in found.folders:
        (destination / folder).mkdir(mode=0o755, parents=True, exist_ok=True)
    for name, source in found.files.items():
        if name != without:
            shutil.copyfile(source, destination / name)
            (destination / name).chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def regular_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """(name, path) of every real file below a folder; links and anything else are left out."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(folder).as_posix(), path
