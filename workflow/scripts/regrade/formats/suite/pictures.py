"""Pictures that a task shows: files as data in the request, so that it says the same on every machine."""

import base64
from pathlib import Path

from regrade.errors import InputsError

LARGEST_MB = 20
"""What the usual providers take at most."""

_STARTS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))


def fault(path: Path) -> str | None:
    """Why a file cannot be shown, as the end of a sentence that begins with its name; None if it can."""
    if not path.is_file():
        return "is not a file, expected a picture"
    size = path.stat().st_size
    if size > LARGEST_MB << 20:
        return f"has {size >> 20} MB, expected at most {LARGEST_MB}"
    with path.open("rb") as stream:
        start = stream.read(16)
    return None if _kind(start) else "is no picture that models take, expected PNG, JPEG, GIF or WebP"


def data_url(path: Path) -> str:
    """The picture in a file as a `data:` address. Raises InputsError if it cannot be shown."""
    told = fault(path)
    if told:
        raise InputsError(f"image_path: {path} {told}")
    content = path.read_bytes()
    return f"data:image/{_kind(content)};base64,{base64.b64encode(content).decode()}"


def _kind(start: bytes) -> str | None:
    """By the first bytes: a file's name may say anything."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "webp"
    return next((kind for begin, kind in _STARTS if start.startswith(begin)), None)
