"""The parts about tests in files that hold other things beside: found, and taken over from another text."""

import json
import re
import tomllib
from collections.abc import Iterator

_SCRIPTS = re.compile(r"(?:pre|post)?test(?:$|[:.-])")
_TOOLS = ("pytest", "coverage")
_PACKAGE_KEYS = ("jest", "vitest", "mocha", "ava", "tap", "c8", "nyc", "bun", "playwright")
_TABLE = re.compile(r"^\[{1,2}\s*([^\]#]+?)\s*\]{1,2}", re.MULTILINE)


def is_alike(name: str, now: str, before: str) -> bool:
    """Whether two texts of a file say the same about tests."""
    parts = _package_parts if name == "package.json" else _tables
    return parts(now) == parts(before)


def merged(name: str, now: str, before: str) -> str | None:
    """The text of now with what the one before says about tests; None if the two cannot be told apart."""
    if name == "package.json":
        return _with_package_parts(now, before)
    text = _with_tables(now, before)
    return text if text is None or name != "pyproject.toml" or _says_both(text, now, before) else None


def _says_both(text: str, now: str, before: str) -> bool:
    """Whether TOML says of tests what it said before, and of all else what it says now: text was cut, not values."""
    try:
        values = [tomllib.loads(each) for each in (text, now, before)]
    except (ValueError, RecursionError):
        return False
    tools = [value.pop("tool", {}) for value in values]
    own, others = [[_split(tool, about_tests) for tool in tools] for about_tests in (True, False)]
    return own[0] == own[2] and others[0] == others[1] and values[0] == values[1]


def _split(tool: dict[str, object], about_tests: bool) -> dict[str, object]:
    return {key: value for key, value in tool.items() if (key in _TOOLS) == about_tests}


def _is_about_tests(table: str) -> bool:
    words = re.sub(r"[\s\"']", "", table).replace("tool:", "tool.").split(".")
    return words[0] == "pytest" or (words[0] == "tool" and (len(words) == 1 or words[1] in _TOOLS))


def _cut(text: str) -> Iterator[tuple[str, str]]:
    """A file cut at its tables or sections: each one's name and text, the beginning under no name."""
    heads = list(_TABLE.finditer(text))
    bounds = [*(head.start() for head in heads), len(text)]
    yield "", text[: bounds[0]]
    for head, end in zip(heads, bounds[1:], strict=True):
        yield head[1], text[head.start() : end]


def _tables(text: str) -> list[str]:
    """The tables about tests, and lines outside of tables that could be such by another spelling."""
    found = [piece.strip() for name, piece in _cut(text) if _is_about_tests(name)]
    return found + re.findall(r"(?m)^\s*[\"']?tool[\"']?\s*[.=].*$", next(_cut(text))[1])


def _with_tables(now: str, before: str) -> str | None:
    """The text with the tables about tests of the one before; None if they cannot be told from the rest."""
    if re.search(r"(?m)^\s*[\"']?tool[\"']?\s*[.=]", next(_cut(now))[1]) or "\n[tool]" in f"\n{now}":
        return None
    kept = "".join(piece for name, piece in _cut(now) if not _is_about_tests(name))
    put = "".join(f"{piece.rstrip()}\n" for name, piece in _cut(before) if _is_about_tests(name))
    return f"{kept.rstrip()}\n\n{put}" if put else kept


def _package(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _package_parts(text: str) -> dict[str, object] | None:
    """The keys of a package.json that configure test runners, and its scripts for tests."""
    value = _package(text)
    if value is None:
        return None
    scripts = value.get("scripts")
    tests = {key: script for key, script in scripts.items() if _SCRIPTS.match(key)} if isinstance(scripts, dict) else {}
    return {"scripts": tests, **{key: value[key] for key in _PACKAGE_KEYS if key in value}}


def _with_package_parts(now: str, before: str) -> str | None:
    value, parts = _package(now), _package_parts(before)
    if value is None or parts is None:
        return None
    tests = parts.pop("scripts")
    scripts = value.get("scripts")
    kept = (
        {key: script for key, script in scripts.items() if not _SCRIPTS.match(key)} if isinstance(scripts, dict) else {}
    )
    value = {key: item for key, item in value.items() if key not in _PACKAGE_KEYS} | parts
    if isinstance(tests, dict) and (kept or tests or "scripts" in value):
        value["scripts"] = {**kept, **tests}
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
