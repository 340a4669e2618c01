"""Calls in JSON: {"tool", "args"} and its kin, wherever they stand in a text.

Also the forms {"name", "arguments"}, {"function": {...}} and {"tool_calls": [...]} that models are trained on, for
known tools; and {"summary"} without any tool, which is a final call.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from regrade.harnesses.loop.arguments import as_it_stands
from regrade.harnesses.loop.found import Broken, Finding, Found
from regrade.harnesses.loop.json_values import as_object, read_at
from regrade.harnesses.loop.tools import TOOLS, plain

_OPENING = re.compile(r"[{\[]")
_OF_A_TOOL = re.compile(rf"""\{{\s*"(?:tool|name)"\s*:\s*"(?:\w{{1,60}}\.)?(?:{"|".join(TOOLS)})"\s*[,}}]""")
_TRIPLE = re.compile(r":\s*(\"\"\"|''')")
_ARGUMENTS = ("args", "arguments", "parameters", "input")
_BESIDE = ("tool", "thought", "thoughts", "reasoning", "id", "type")
_AROUND = ("function", "tool_call", "function_call", "tool_calls")
_MOST_CLOSINGS = 50
_MOST_ITEMS = 50
_ATTEMPT = 40
"""What an attempt costs at least, in characters read."""


def calls(text: str) -> Iterator[Finding]:
    """Calls of tools, known or not, in their order. One of a known tool that cannot be read ends the search, as what
    its texts hold may look like calls too."""
    for value, start, end in _values(text):
        if isinstance(value, ValueError):
            yield Broken(start, f"its JSON cannot be read: {value}")
            return
        found = _call(value)
        if found:
            yield Found(*found, start, end)


def summaries(text: str) -> Iterator[Found]:
    """Objects that have a summary and name no tool."""
    for value, start, end in _values(text):
        if isinstance(value, dict) and "summary" in value and not {"tool", "name", "function"} & value.keys():
            yield Found("final", {"summary": value["summary"]}, start, end)


def _values(text: str) -> Iterator[tuple[Any, int, int]]:
    """Objects and arrays with their places, none inside another; an error in the place of a broken call.

    What is no JSON is looked at from its next bracket on, until as much was read as four times the text.
    """
    position, left = 0, 4 * len(text) + 100_000
    while left > 0 and (found := _OPENING.search(text, position)):
        start = found.start()
        try:
            value, position = read_at(text, start)
        except ValueError as error:
            left -= _read(error, start, len(text))
            value, position = None, start + 1
            if _OF_A_TOOL.match(text, start):
                value, position = _with_triple_quotes(text, start) or (error, len(text))
        if value is not None:
            yield value, start, position


def _read(error: ValueError, start: int, length: int) -> int:
    """About how many characters were read until an error. Making it costs too: it counts the lines before its place."""
    if not isinstance(error, json.JSONDecodeError) or error.msg.startswith("Unterminated"):
        return length - start
    return max(_ATTEMPT, error.pos - start) + error.pos // 200


def _with_triple_quotes(text: str, start: int) -> tuple[Any, int] | None:
    """The object that begins at a place, one of whose texts is in triple quotes, and where it ends."""
    opening = _TRIPLE.search(text, start)
    if not opening:
        return None
    head, quote = text[start : opening.start(1)], opening[1]
    for tried, closing in enumerate(re.compile(rf"(?<!\\){quote}(?=\s*[,}}\]])").finditer(text, opening.end())):
        if tried == _MOST_CLOSINGS:
            break
        quoted = head + json.dumps(as_it_stands(text[opening.end() : closing.start()], quote))
        try:
            value, end = read_at(quoted + text[closing.end() :], 0)
        except ValueError:
            continue
        return value, closing.end() + end - len(quoted)
    return None


def _call(value: Any, depth: int = 3) -> tuple[str, dict[str, Any]] | None:
    """The call that a value is, the first of a list; None if it is none."""
    if isinstance(value, list):
        found = (_call(item, depth - 1) for item in value[:_MOST_ITEMS] if depth and isinstance(item, dict))
        return next(filter(None, found), None)
    if isinstance(value.get("tool"), str):
        name = plain(value["tool"])
        return (name if name in TOOLS else value["tool"]), _arguments(value, name)
    inner = next((value[key] for key in _AROUND if isinstance(value.get(key), dict | list)), None)
    if inner is not None and depth:
        return _call(inner, depth - 1)
    name = plain(value["name"]) if isinstance(value.get("name"), str) else ""
    if name in TOOLS and any(key in value for key in _ARGUMENTS):
        return name, _arguments(value, name)
    return None


def _arguments(value: dict[str, Any], tool: str) -> dict[str, Any]:
    """A call's arguments: an object, its JSON text, values in their order, or all that stands beside the name."""
    key = next((key for key in _ARGUMENTS if key in value), None)
    if key is None:
        return {name: said for name, said in value.items() if name not in _BESIDE}
    found = as_object(value[key])
    if found is not None:
        return found
    said = value[key] if isinstance(value[key], list) else [value[key]]
    return dict(zip(TOOLS[tool].parameters if tool in TOOLS else (), said, strict=False))
