"""A model's account of what it did: its tool calls, in any of the usual shapes, and the state it claims."""

from typing import Any, NamedTuple

from regrade.scorers.suite import json_in_text
from regrade.scorers.suite.matchers import as_text

CALLS = ("tool_calls", "calls")
STATES = ("state", "final_state")
_NAMES = ("tool", "name", "action", "type")
_ARGUMENTS = ("args", "arguments", "parameters")


class Call(NamedTuple):
    """One tool call."""

    tool: str
    args: dict[str, Any]


class Trace(NamedTuple):
    """Calls in their order, and the claimed state: None if it is no object, empty if nothing is claimed."""

    calls: list[Call]
    state: dict[str, Any] | None


def find(text: str, calls_field: str, state_field: str) -> Trace | None:
    """The trace of a text: its first JSON object with calls or a state, None if there is none."""
    for found in json_in_text.find(text):
        if isinstance(found.value, dict) and (trace := _trace(found.value, calls_field, state_field)):
            return trace
    return None


def _trace(value: dict[str, Any], calls_field: str, state_field: str) -> Trace | None:
    said = [value[name] for name in (calls_field, CALLS[1]) if isinstance(value.get(name), list)]
    states = [value[name] for name in (state_field, STATES[1]) if value.get(name) is not None]
    if not said and not states:
        return None
    calls = [call for item in (said[0] if said else []) if (call := _call(item))]
    state = states[0] if states else {}
    return Trace(calls, state if isinstance(state, dict) else None)


def _call(item: Any) -> Call | None:
    """A name alone, an object with a name and arguments, or a chat API's own shape; None for anything else."""
    if isinstance(item, str):
        return Call(item, {}) if item.strip() else None
    if not isinstance(item, dict):
        return None
    inner = item.get("function")
    if isinstance(inner, dict) and _name_key(inner):
        return _call(inner)
    key = "function" if isinstance(inner, str) and inner else _name_key(item)
    return Call(as_text(item[key]).strip(), _arguments(item, key)) if key else None


def _name_key(item: dict[str, Any]) -> str:
    """The first key that holds a name: a text, or a number."""
    for key in _NAMES:
        name = item.get(key)
        if isinstance(name, str | int | float) and not isinstance(name, bool) and as_text(name).strip():
            return key
    return ""


def _arguments(item: dict[str, Any], name_key: str) -> dict[str, Any]:
    """Arguments under one of the usual keys, as an object or as JSON text; else what stands beside the name."""
    for key in _ARGUMENTS:
        said = item.get(key)
        value = json_in_text.parse(said) if isinstance(said, str) else said
        if isinstance(value, dict):
            return value
    return {key: value for key, value in item.items() if key != name_key}
