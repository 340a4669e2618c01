"""Folders written from a description, read back into one, and the vectors about patches."""

import base64
import json
import os
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parent / "vectors" / "benchpack"

Files = dict[str, Any]


def vectors(area: str) -> list[dict[str, Any]]:
    """The cases with known answers of one area."""
    return [json.loads(line) for line in (VECTORS / f"{area}.jsonl").read_text().splitlines()]


def write(folder: Path, files: Files) -> Path:
    """Make a folder of `files`: path -> text, bytes, {"b64": ...}, {"symlink": target} or {"dir": True}."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            place.write_bytes(content.encode())
        elif isinstance(content, bytes):
            place.write_bytes(content)
        elif "symlink" in content:
            place.symlink_to(content["symlink"])
        elif "dir" in content:
            place.mkdir(exist_ok=True)
        else:
            place.write_bytes(base64.b64decode(content["b64"]))
    return folder


def read(folder: Path) -> Files:
    """A folder's files as text (or bytes, where they are no UTF-8) and its links, in the same shape."""
    found: Files = {}
    for place in sorted(folder.rglob("*")):
        name = place.relative_to(folder).as_posix()
        if place.is_symlink():
            found[name] = {"symlink": os.readlink(place)}
        elif place.is_file():
            content = place.read_bytes()
            try:
                found[name] = content.decode()
            except UnicodeDecodeError:
                found[name] = content
    return found


def fenced(patch: str) -> str:
    """An answer that holds a patch."""
    return f"Here it is.\n```diff\n{patch}```\n"
