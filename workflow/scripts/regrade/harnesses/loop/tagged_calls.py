"""Calls between the marks that models were trained on, and those that begin with `tool:` or `call:`."""

import re
from collections.abc import Iterator

from regrade.harnesses.loop import arguments
from regrade.harnesses.loop.found import Broken, Finding, Found
from regrade.harnesses.loop.json_values import read_at
from regrade.harnesses.loop.tools import TOOLS, plain

_NAME = r"([A-Za-z_][\w.]{0,80})"
_OPENING = re.compile(
    rf"(?<!\w)tool:\s{{0,9}}{_NAME}\s{{0,9}}(?=\{{)"
    rf"|(?<!\w)call:(?:tool:)?{_NAME}\s{{0,9}}(?=\{{)"
    rf"|<\|tool_call_begin\|>\s{{0,9}}{_NAME}(?::\d{{1,9}})?\s{{0,9}}<\|tool_call_argument_begin\|>\s{{0,9}}(?=\{{)"
    rf"|<function={_NAME}>"
)
_PARAMETER = re.compile(r"\s*<parameter=(\w{1,60})>\n?")
_PARAMETER_END = re.compile(r"\n?</parameter>\s*(?=<parameter=|</function>)")
_FUNCTION_END = re.compile(r"\s*</function>")
_MOST = 200


def calls(text: str) -> Iterator[Finding]:
    """Calls of known tools in their order. One that cannot be read ends the search."""
    position = 0
    for _ in range(_MOST):
        opening = _OPENING.search(text, position)
        if not opening:
            return
        position = opening.end()
        tool = plain(next(name for name in opening.groups() if name))
        if tool not in TOOLS:
            continue
        try:
            args, position = _parameters(text, position) if opening[4] else _object(text, position, tool)
        except ValueError as error:
            yield Broken(opening.start(), f"its arguments cannot be read: {error}")
            return
        yield Found(tool, args, opening.start(), position)


def _object(text: str, position: int, tool: str) -> tuple[dict[str, object], int]:
    try:
        value, end = read_at(text, position)
    except ValueError:
        return arguments.read(text, position + 1, "}", tuple(TOOLS[tool].parameters))
    return value, end


def _parameters(text: str, position: int) -> tuple[dict[str, object], int]:
    """The <parameter=NAME> elements of a <function=NAME>, each a text as it stands."""
    args: dict[str, object] = {}
    while begin := _PARAMETER.match(text, position):
        end = _PARAMETER_END.search(text, begin.end())
        if not end:
            raise ValueError(f"<parameter={begin[1]}> has no end")
        args[begin[1]] = text[begin.end() : end.start()]
        position = end.end()
    last = _FUNCTION_END.match(text, position)
    if not last:
        raise ValueError("<function=...> has no end")
    return args, last.end()
