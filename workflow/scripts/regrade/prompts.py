"""What a model is told about an artifact task. Places are the sandbox's, so no machine changes a request."""

import os
from pathlib import Path

from regrade import workspace as workspaces

_TEXT_CHECK_BYTES = 4096


def task_prompt(prompt: str, output_artifact: str) -> str:
    """Two lines with the input folder and the artifact, a blank line, and the task's prompt as it is."""
    return f"Input directory: {workspaces.INSIDE}\nOutput artifact: {workspaces.INSIDE}/{output_artifact}\n\n{prompt}"


def excerpt(workspace: Path, budget: int) -> str:
    """A listing of the workspace and the beginnings of its text files, in at most `budget` characters.

    Half of the budget is the listing's; what it leaves is shared by the text files in the order of their names,
    small ones first served whole.
    """
    files = [(name, workspace / name) for name in _names(workspace)]
    if not budget or not files:
        return ""
    listing = _listing(files, budget // 2)
    texts = sorted(((name, path) for name, path in files if _is_text(path)), key=lambda file: file[1].stat().st_size)
    left, parts = budget - len(listing), {}
    for position, (name, path) in enumerate(texts):
        head = f"--- {name}\n"
        share = left // (len(texts) - position) - len(head)
        if share < 20:
            continue
        with path.open(encoding="utf-8", errors="replace") as stream:
            text = stream.read(share)
        parts[name] = f"{head}{text.rstrip()}\n"
        left -= len(parts[name])
    return listing + "".join(parts[name] for name in sorted(parts))


def _names(workspace: Path) -> list[str]:
    found = []
    for folder, _, names in os.walk(workspace):
        found += [os.path.relpath(os.path.join(folder, name), workspace) for name in names if not name.startswith(".")]
    return sorted(found)


def _listing(files: list[tuple[str, Path]], budget: int) -> str:
    text = ""
    for position, (name, path) in enumerate(files):
        line = f"{name} ({path.stat().st_size} bytes)\n"
        if len(text) + len(line) > budget:
            return f"{text}... and {len(files) - position} more\n"
        text += line
    return text


def _is_text(path: Path) -> bool:
    with path.open("rb") as stream:
        head = stream.read(_TEXT_CHECK_BYTES)
    return b"\0" not in head and bool(head)
