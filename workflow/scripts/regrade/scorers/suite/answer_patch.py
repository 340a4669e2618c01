"""What an answer changes in a repository. The forms, in the order in which they are looked for:

1. a JSON object with `files`: name -> the whole text, or {"content": text}
2. fences with `path=NAME` behind their label, each a whole file
3. a diff in a fence labelled diff or patch, or in any fence that begins like one
4. a diff that the answer begins with
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regrade import workspace
from regrade.errors import RegradeError
from regrade.patches import fenced
from regrade.patches.apply import apply_response
from regrade.repository_tests.protected import is_outside
from regrade.sandbox.inside.files import MAX_DEPTH, is_too_deep
from regrade.scorers.suite.json_in_text import find, objects

_NAMED = re.compile(
    r"(?P<fence>[ \t]*(?:`{3,16}|~{3,16}))[^\n`]*?\bpath="
    r"(?:\"(?P<double>[^\"\n]+)\"|'(?P<single>[^'\n]+)'|(?P<bare>[^\s`]+))[^\n`]*$"
)
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_DIFF = r"(?:diff --git |--- \S)"
_FENCED_DIFF = re.compile(rf"^```[^\n`]*\n(?P<body>\s*{_DIFF}.*?)(?:^```[ \t\r]*$|\Z)", re.DOTALL | re.MULTILINE)
_NAMING = re.compile(r"^(?:diff --git|---|\+\+\+|rename to|copy to) .*", re.MULTILINE)
_BARE_DIFF = re.compile(_DIFF)


class RefusedError(Exception):
    """Why an answer changes nothing: a reason of statuses.TABLE, and a sentence."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


def apply(folder: Path, answer: str, is_protected: Callable[[str], bool], timeout_s: float) -> None:
    """Change a copy of the repository as an answer says. `timeout_s` bounds each call of git.

    Raises RefusedError, and SandboxError if git was stopped half way. A diff may have changed protected paths: only
    the copy tells.
    """
    files = _files_in(answer)
    if files is None:
        _apply_diff(folder, answer, timeout_s)
        return
    if not files:
        raise RefusedError("empty_patch", "the answer names no file")
    for name, content in files.items():
        _check(name, content, is_protected)
    for name, content in files.items():
        try:
            workspace.write_into(folder, name, content.encode("utf-8", "backslashreplace"))
        except RegradeError as error:
            raise RefusedError("patch_rejected", str(error)) from error


def _files_in(answer: str) -> dict[str, Any] | None:
    """Whole files by their names; None if the answer holds neither of the two forms."""
    for value in (value for found in find(answer) for value in objects(found.value)):
        if isinstance(value.get("files"), dict):
            return {name: _content(entry) for name, entry in value["files"].items()}
    return _named_files(answer) or None


def _named_files(answer: str) -> dict[str, Any]:
    """The files in fences with a path. A fence closes at its own column, so that one in a text inside does not."""
    files: dict[str, Any] = {}
    name = fence = ""
    for line in _LINES.findall(answer):
        if not name:
            opening = _NAMED.match(line.rstrip())
            if opening:
                name, fence = opening["double"] or opening["single"] or opening["bare"], opening["fence"]
                files[name] = []
        elif line.rstrip() == fence:
            name = ""
        else:
            files[name].append(line)
    return {name: "".join(lines) for name, lines in files.items()}


def _content(entry: Any) -> Any:
    return entry["content"] if isinstance(entry, dict) and "content" in entry else entry


def _check(name: str, content: Any, is_protected: Callable[[str], bool]) -> None:
    if is_outside(name):
        raise RefusedError("patch_rejected", f"{name!r:.200} leads out of the repository")
    if is_protected(name):
        raise RefusedError("patch_rejected", f"{name} belongs to the tests, which an answer may not change")
    if not name.isprintable() or not name.strip("./ ") or is_too_deep(name, name.count("/")):
        raise RefusedError("patch_rejected", f"{name!r:.200} is no name of a file")
    if not isinstance(content, str):
        raise RefusedError("invalid_format", f"{name} is {content!r:.60}, expected the file's whole text")


def _apply_diff(folder: Path, answer: str, timeout_s: float) -> None:
    block = fenced.first_block(answer)
    if block is None or not block.strip():
        found = _FENCED_DIFF.search(answer)
        block = found["body"].lstrip() if found else answer if _BARE_DIFF.match(answer) else block
    if block is None:
        reason = "invalid_format" if answer.strip() else "no_response"
        raise RefusedError(reason, "the answer holds neither files nor a diff")
    # A line that names a file may name it twice.
    if any(line.count("/") > 2 * MAX_DEPTH for line in _NAMING.findall(block)):
        raise RefusedError("patch_rejected", f"the diff names a file more than {MAX_DEPTH} folders deep")
    end = "" if block.endswith("\n") else "\n"
    applied = apply_response(folder, f"```diff\n{block}{end}```\n", timeout_s)
    if not applied.applied:
        said = " ".join(f"{applied.stderr} {applied.detail}".replace("; workspace left unchanged.", ";").split())
        raise RefusedError(applied.reason, said.strip("; "))
