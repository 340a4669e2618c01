"""What a model is told about a task with a workspace. Places are the sandbox's, so no machine changes a request."""

import os
from itertools import islice
from pathlib import Path

from regrade import workspace as workspaces

_TEXT_CHECK_BYTES = 4096
_MORE = "... and"
_LEAST_SHARE = 80
"""Characters of a file below which a beginning says nothing."""


def task_prompt(prompt: str, output_artifact: str) -> str:
    """Lines with the input folder and, if there is one, the artifact, a blank line, and the prompt as it is."""
    if not output_artifact:
        return f"Repository: {workspaces.INSIDE}\n\n{prompt}"
    return f"Input directory: {workspaces.INSIDE}\nOutput artifact: {workspaces.INSIDE}/{output_artifact}\n\n{prompt}"


def excerpt(workspace: Path, budget: int) -> str:
    """A listing of the workspace and the beginnings of its text files, in at most `budget` characters.

    Half of the budget is the listing's. What it leaves is shared by the text files, the smallest first; where there
    are too many, the largest go without. Where half is too little, their names alone are listed, if those fit into
    the whole. Hidden files are left out.
    """
    files = [(_printable(name), workspace / name) for name in _names(workspace)]
    names = f"{', '.join(name for name, _ in files)}\n"
    listing = _listing(files, budget // 2)
    if listing.startswith(_MORE) and len(names) <= budget:
        return names if files else ""
    if not listing:
        return ""
    left, parts = budget - len(listing), {}
    by_size = sorted(files, key=lambda file: file[1].stat().st_size)
    texts = list(islice((file for file in by_size if _is_text(file[1])), left // _LEAST_SHARE))
    for position, (name, path) in enumerate(texts):
        head = f"--- {name}\n"
        room = left // (len(texts) - position) - len(head) - 1
        if room <= 0:
            continue
        with path.open(encoding="utf-8", errors="replace", newline="") as stream:
            text = stream.read(room)
        parts[name] = f"{head}{text.rstrip()}\n"
        left -= len(parts[name])
    return listing + "".join(parts[name] for name in sorted(parts))


def _names(workspace: Path) -> list[str]:
    found = []
    for folder, _, names in os.walk(workspace):
        found += [os.path.relpath(os.path.join(folder, name), workspace) for name in names if not name.startswith(".")]
    return sorted(found)


def _printable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _listing(files: list[tuple[str, Path]], budget: int) -> str:
    """A line for each file, or as many as fit together with one that counts the others; nothing if not even that."""
    lines = [f"{name} ({path.stat().st_size} bytes)\n" for name, path in files]
    length = sum(map(len, lines))
    for shown in range(len(lines), -1, -1):
        rest = f"{_MORE} {len(lines) - shown} more\n" if shown < len(lines) else ""
        if length + len(rest) <= budget:
            return "".join(lines[:shown]) + rest
        length -= len(lines[shown - 1])
    return ""


def _is_text(path: Path) -> bool:
    with path.open("rb") as stream:
        head = stream.read(_TEXT_CHECK_BYTES)
    unreadable = head.decode("utf-8", "replace").count("\N{REPLACEMENT CHARACTER}")
    return bool(head) and b"\0" not in head and unreadable <= len(head) // 10
