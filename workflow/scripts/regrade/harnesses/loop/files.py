"""The tools on files: what they do in a workspace, and what the model is told of it."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from regrade import workspace, workspace_files
from regrade.errors import RegradeError
from regrade.formats.suite.fixtures import LEFT_OUT
from regrade.repository_tests import is_protected
from regrade.repository_tests.protected import is_outside

MOST_PATHS = 200
MOST_CHARACTERS = 20_000
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


class Observation(NamedTuple):
    """What an action came to."""

    ok: bool
    text: str


class Files:
    """list_files, read_file and write_file in one folder; tests are protected where `guards_tests` says so."""

    def __init__(self, folder: Path, *, guards_tests: bool) -> None:
        self._folder = folder
        self._guards_tests = guards_tests

    def do(self, tool: str, args: dict[str, Any]) -> Observation:
        """Carry out one of the three. Whatever is wrong with it is an observation; raises OSError for a full disk."""
        said = args.get("path")
        name = "." if tool == "list_files" and said in (None, "") else said
        if not isinstance(name, str) or not name:
            return Observation(False, f"{tool} needs a path, a text; found {said!r:.80}")
        try:
            inside = self._inside(name)
            if tool == "list_files":
                return self._list(name, inside)
            return self._read(name, inside) if tool == "read_file" else self._write(name, inside, args.get("content"))
        except RegradeError as error:
            return Observation(False, str(error))
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _FULL:
                raise
            return Observation(False, f"{name:.200}: {getattr(error, 'strerror', None) or error}")

    def _inside(self, name: str) -> str:
        """A name relative to the workspace, all links in it followed. Raises RegradeError for one that leads out."""
        plain = name.removeprefix(workspace.INSIDE) if f"{name}/".startswith(f"{workspace.INSIDE}/") else name
        plain = plain.lstrip("/") if plain != name else name
        place = None if is_outside(plain) else workspace_files.resolve(self._folder, plain)
        if place is None:
            raise RegradeError(f"{name:.200}: leads out of the workspace, expected a path inside it")
        return os.path.relpath(place, os.path.realpath(self._folder))

    def _list(self, name: str, inside: str) -> Observation:
        if not (self._folder / inside).is_dir():
            return Observation(False, f"{name:.200}: is no folder")
        paths = sorted(_files(self._folder, inside))
        more = f"\n... and {len(paths) - MOST_PATHS} more" if len(paths) > MOST_PATHS else ""
        return Observation(True, "\n".join(paths[:MOST_PATHS]) + more or "no files")

    def _read(self, name: str, inside: str) -> Observation:
        # Only a regular file: opening a named pipe would wait for ever.
        if not (self._folder / inside).is_file():
            return Observation(False, f"{name:.200}: is no file")
        with (self._folder / inside).open(encoding="utf-8", errors="replace", newline="") as stream:
            text = stream.read(MOST_CHARACTERS + 1)
        if len(text) > MOST_CHARACTERS:
            return Observation(True, f"{text[:MOST_CHARACTERS]}\n... cut off after {MOST_CHARACTERS} characters")
        return Observation(True, text or "the file is empty")

    def _write(self, name: str, inside: str, content: Any) -> Observation:
        if not isinstance(content, str):
            return Observation(False, f"write_file needs all of the file's content, a text; found {content!r:.80}")
        if self._guards_tests and (is_protected(name) or is_protected(inside)):
            return Observation(False, f"{name:.200}: belongs to the tests, which may not be changed")
        place = self._folder / inside
        runs = place.is_file() and os.access(place, os.X_OK)
        workspace.write_into(self._folder, inside, content.encode("utf-8", "backslashreplace"))
        if runs:
            place.chmod(0o755)
        return Observation(True, f"wrote {len(content)} characters to {name}")


def _files(root: Path, inside: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root / inside):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            yield os.fsencode(path).decode("utf-8", "backslashreplace")
