"""Paths in a manifest: each is relative, stays inside the pack with every link followed, and leads to something."""

import re
import stat
from pathlib import Path

from regrade.files import followed


class PlaceError(Exception):
    """Why a path cannot be used, in words that follow the path itself."""


def inside(folder: Path, declared: str) -> Path:
    """The place that a declared path leads to, links followed, whether anything is there or not.

    Raises PlaceError for one that is absolute, leaves the folder, or cannot be a path.
    """
    if not declared.strip():
        raise PlaceError("expected a path inside the pack")
    if re.search(r"[\x00-\x1f\x7f]", declared):
        raise PlaceError("expected a path without line ends and other control characters")
    if declared.startswith("/"):
        raise PlaceError("expected a path relative to the pack")
    try:
        place = followed(folder / declared)
        if place.is_relative_to(folder.resolve()):
            return place
    except OSError as error:
        raise PlaceError(f"expected a path that can be followed, found {error.strerror}") from error
    raise PlaceError("expected a path inside the pack, found one that leaves it")


def kind_of(place: Path) -> int:
    """The file type of what lies at a place, as `stat.S_IFMT` has it. Raises PlaceError if nothing does."""
    try:
        return stat.S_IFMT(place.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise PlaceError("no such file or folder in the pack") from error
    except OSError as error:
        raise PlaceError(f"cannot be read: {error.strerror}") from error


def file(folder: Path, declared: str) -> Path:
    """The regular file that a declared path leads to. Raises PlaceError."""
    place = inside(folder, declared)
    if kind_of(place) != stat.S_IFREG:
        raise PlaceError("expected a regular file")
    return place


def file_or_folder(folder: Path, declared: str) -> tuple[Path, bool]:
    """What a fixture's path leads to and whether that is a folder; the pack itself is none. Raises PlaceError."""
    place = inside(folder, declared)
    if place == folder.resolve():
        raise PlaceError("expected a path to something in the pack, found the pack itself")
    kind = kind_of(place)
    if kind not in (stat.S_IFREG, stat.S_IFDIR):
        raise PlaceError("expected a regular file or a folder")
    return place, kind == stat.S_IFDIR


def read_text(place: Path) -> str:
    """A UTF-8 file with every line end as `\\n`; a byte order mark stays. Raises PlaceError."""
    try:
        text = place.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise PlaceError(
            f"expected UTF-8 text, found byte {error.object[error.start]:#04x} at offset {error.start}"
        ) from error
    except OSError as error:
        raise PlaceError(f"cannot be read: {error.strerror}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
