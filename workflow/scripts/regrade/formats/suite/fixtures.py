"""Finding what a task names beside itself: fixture repositories, images, local data sets."""

from collections.abc import Iterator
from pathlib import Path

LEFT_OUT = ("__pycache__", ".pytest_cache", ".git")
"""What lies about in a fixture and is no part of it."""

_SHOWN = 200


def find(name: str, file: Path) -> Path | None:
    """The file or folder of that name: the first of `places` that exists."""
    return next((place for place in places(name, file) if _exists(place)), None)


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except OSError:  # A name that is too long, or a folder that must not be entered.
        return False


def places(name: str, file: Path) -> Iterator[Path]:
    """Where a name may lead from a task's file: absolute; its folder and that one's parent; the current folder."""
    path = Path(name)
    if path.is_absolute():
        yield path
        return
    folder = file.absolute().parent
    yield from (folder / path, folder.parent / path)
    yield Path.cwd() / path


def tried(name: str, file: Path) -> str:
    """The places that were looked at, for a message of one bounded line."""
    return ", ".join(dict.fromkeys(_shown(str(place)) for place in places(name, file)))


def _shown(place: str) -> str:
    return repr(place[:_SHOWN]) if len(place) > _SHOWN or not place.isprintable() else place
