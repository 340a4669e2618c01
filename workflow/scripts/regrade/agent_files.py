"""What is kept of an external agent's files, and the keys that must be in none of them."""

import mmap
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from regrade import digests, files, workspace
from regrade.models.redaction import MARK, SHORTEST

MODEL_CALLS_BYTES = 4 << 20

_KEYS = re.compile(r"key|token|secret|password|auth|credential", re.IGNORECASE)


class Secrets:
    """The values of environment variables that are named like keys."""

    def __init__(self, names: list[str]) -> None:
        values = {os.fsencode(os.environ.get(name, "")) for name in names if _KEYS.search(name)}
        self._values = sorted((value for value in values if len(value) >= SHORTEST), key=len, reverse=True)

    def redact(self, content: bytes) -> bytes:
        """The content without any of the keys."""
        for value in self._values:
            content = content.replace(value, MARK.encode())
        return content

    def redact_folder(self, folder: Path) -> Iterator[str]:
        """Take the keys out of all regular files below a folder; the names of those that held one."""
        for name, entry in digests.walk(folder) if self._values else ():
            path = Path(entry.path)
            if entry.is_file(follow_symlinks=False) and self._are_in(path):
                path.write_bytes(self.redact(path.read_bytes()))
                yield os.fsencode(name).decode("utf-8", "backslashreplace")

    def _are_in(self, path: Path) -> bool:
        with path.open("rb") as stream:
            if not path.stat().st_size:
                return False
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return any(content.find(value) >= 0 for value in self._values)


def keep_model_calls(written: Path, kept: Path, secrets: Secrets) -> str:
    """Keep a model-call file, if there is a regular one, up to its last whole line within MODEL_CALLS_BYTES.

    Returns a warning when something is not kept, else an empty text.
    """
    try:
        about = written.lstat()
    except FileNotFoundError:
        return ""
    if not stat.S_ISREG(about.st_mode):
        workspace.remove(written)
        return f"{written.name} is no regular file, not kept"
    with written.open("rb") as stream:
        content = stream.read(MODEL_CALLS_BYTES)
    cut = about.st_size > len(content)
    if cut:
        content = content[: content.rfind(b"\n") + 1]
    files.write_bytes(kept, secrets.redact(content))
    return f"{written.name} has {about.st_size} bytes, only the first {len(content)} are kept" if cut else ""
