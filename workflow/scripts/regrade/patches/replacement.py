"""A whole file in a fenced block, between `*** Begin File: PATH` and `*** End File`."""

import os
import re
import tempfile
from pathlib import Path

from regrade.patches import RefusedError
from regrade.patches.policy import check_path

BEGIN = "*** Begin File: "
_END = re.compile(r"\*\*\* End File[ \t\r]*")
_NUMBER = re.compile(r"\d+\. +")
_REMARK = re.compile(r"(.+) \((?:no changes?(?: needed)?|unchanged)\)", re.IGNORECASE)


def apply_file(workspace: Path, block: str) -> None:
    """Write the block's file, with LF line ends. Raises RefusedError, and then nothing has changed."""
    first, *rest = block.split("\n")
    name = _plain(first.removeprefix(BEGIN).strip(), workspace)
    if not name:
        raise RefusedError("missing file path")
    content = _content(rest)
    try:
        place = check_path(workspace, name)
        if place.is_dir():
            raise RefusedError("target path is a directory")
        _write(place, content.encode("utf-8"))
    except (OSError, ValueError) as error:
        raise RefusedError("workspace file could not be written") from error


def _plain(name: str, workspace: Path) -> str:
    """The path without a list number and Markdown's marks around it, unless a file has that very name."""
    if "\0" in name or os.path.lexists(workspace / name):
        return name
    plain = _NUMBER.sub("", name, count=1) if _NUMBER.match(name) and name.endswith(("*", "`")) else name
    for mark in ("**", "`"):
        if len(plain) > 2 * len(mark) and plain.startswith(mark) and plain.endswith(mark):
            plain = plain[len(mark) : -len(mark)]
    if _REMARK.fullmatch(plain):
        raise RefusedError("block says that its file has no changes")
    return plain


def _content(lines: list[str]) -> str:
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or not _END.fullmatch(lines[-1]):
        raise RefusedError("missing end marker")
    content = "".join(f"{line}\n" for line in lines[:-1])
    if not content:
        raise RefusedError("empty file content")
    return content.replace("\r\n", "\n").replace("\r", "\n")


def _write(place: Path, content: bytes) -> None:
    """Replace a file by rename: an unchanged file may be a link to the pristine one. Its mode stays."""
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o644
    made = _make_folders(place.parent)
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".regrade-", dir=place.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            os.chmod(temporary, mode)
            os.replace(temporary, place)
        except OSError:
            os.unlink(temporary)
            raise
    except OSError:
        for folder in made:
            folder.rmdir()
        raise


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it; what was made, the innermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing
