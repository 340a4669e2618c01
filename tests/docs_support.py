"""Reading the documentation's pages: their code blocks and the tables that a test holds against the code."""

import re
from collections.abc import Iterator
from typing import Any

from project import REPOSITORY

README = (REPOSITORY / "README.md").read_text()
PAGES = [REPOSITORY / "README.md", *(REPOSITORY / name for name in ("AGENTS.md", "CHANGELOG.md", "config/README.md"))]
PAGES += sorted((REPOSITORY / "docs").glob("*.md"))


def page(name: str) -> str:
    """The text of a page by its name below the repository."""
    return (REPOSITORY / name).read_text()


def fenced(text: str, language: str = "") -> list[str]:
    """The fenced blocks of a page in one language."""
    return [content for info, content in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M) if info == language]


def rows(text: str) -> list[list[str]]:
    """The cells of every table row whose first cell starts with code, without that cell's marks."""
    found = [line.strip().strip("|").split(" | ") for line in text.splitlines() if line.strip().startswith("| `")]
    return [[re.findall(r"`([^`]+)`", cells[0])[0], *(cell.strip() for cell in cells[1:])] for cells in found]


def leaves(value: Any, free: str, named: str, prefix: str = "") -> Iterator[str]:
    """The dotted keys of a configuration; below `free` stand names of the user's choice."""
    if not isinstance(value, dict):
        yield prefix
        return
    for key, child in value.items():
        name = named if prefix == free else key
        yield from leaves(child, free, named, f"{prefix}.{name}".lstrip("."))


def schema_keys(schema: dict[str, Any], prefix: str, named: str) -> Iterator[str]:
    """Every key that a value may have; `named` stands for names of the user's choice, `[]` for a list's entries."""
    children = {prefix + name: child for name, child in schema.get("properties", {}).items()}
    if isinstance(schema.get("additionalProperties"), dict):
        children[prefix + named] = schema["additionalProperties"]
    for key, child in children.items():
        inside = f"{key}[]" if "properties" in child.get("items", {}) else key
        inner = list(schema_keys(child.get("items", child) if inside != key else child, f"{inside}.", named))
        yield from inner or [key]
