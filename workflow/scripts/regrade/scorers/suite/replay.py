"""The state that tool calls lead to, by the effects that a task gives each tool.

replay:
  initial_state: {...}
  effects:
    TOOL:
      required_args: [NAME, ...]       without one of them the call has no effect
      set: {PATH: VALUE}               before append
      append: {PATH: VALUE}

Paths are dotted. $args.NAME, in paths, keys and values, stands for an argument of the call, $args.NAME.KEY for what it
holds there. A value that is nothing else keeps the argument's type; within other text it is filled in as text.
"""

import copy
import re
from collections.abc import Iterator
from typing import Any

from regrade.scorers.suite.matchers import MISSING, TableFault, as_text, at
from regrade.scorers.suite.normalised import text_of
from regrade.scorers.suite.trace_calls import Call

_TOKEN = re.compile(r"\$args\.(\w+(?:\.\w+)*)")


class ReplayFault(TableFault):
    """A replay that leads to no state, whatever is called."""


class _Failure(Exception):  # noqa: N818 (what a call did, not what we did)
    """An item of an effect that cannot be carried out."""


def run(replay: Any, calls: list[Call]) -> tuple[dict[str, Any], list[str]]:
    """The state after all calls, and what of them failed. Raises ReplayFault."""
    if not isinstance(replay, dict):
        raise ReplayFault(f"the task's replay is {replay!r:.60}, expected a mapping with initial_state and effects")
    state, effects = replay.get("initial_state", {}), replay.get("effects") or {}
    if not isinstance(state, dict) or not isinstance(effects, dict):
        raise ReplayFault("the task's replay must have mappings as its initial_state and effects")
    state, failures = copy.deepcopy(state), []
    if not effects:
        failures.append("replay has no effects")
    by_tool = {text_of(tool): effect for tool, effect in effects.items()}
    for number, call in enumerate(calls, 1):
        if call.tool in by_tool:
            failures += [f"call {number} ({call.tool}): {why}" for why in _carry_out(by_tool[call.tool], call, state)]
    return state, failures


def _carry_out(effect: Any, call: Call, state: dict[str, Any]) -> Iterator[str]:
    """Change the state as one call does; yields what fails, of which nothing is done."""
    table = effect if isinstance(effect, dict) else {}
    missing = [name for name in map(text_of, table.get("required_args") or []) if at(call.args, name) is MISSING]
    if missing:
        yield f"has no argument {', '.join(missing)}"
        return
    for kind, put in (("set", _set), ("append", _append)):
        for path, value in (table.get(kind) or {}).items():
            try:
                put(state, _steps(text_of(path), call.args), _filled(value, call.args))
            except _Failure as failure:
                yield f"{kind} {path}: {failure}"


def _set(state: dict[str, Any], steps: list[str], value: Any) -> None:
    _parent(state, steps)[steps[-1]] = value


def _append(state: dict[str, Any], steps: list[str], value: Any) -> None:
    items = _parent(state, steps).setdefault(steps[-1], [])
    if not isinstance(items, list):
        raise _Failure("there is something else than a list")
    items.append(value)


def _parent(state: dict[str, Any], steps: list[str]) -> dict[str, Any]:
    """The object that holds the last step; those on the way are made where nothing is."""
    for step in steps[:-1]:
        inner = state.setdefault(step, {})
        if not isinstance(inner, dict):
            raise _Failure(f"{step} is something else than an object")
        state = inner
    return state


def _steps(path: str, args: dict[str, Any]) -> list[str]:
    """The steps of a path. An argument is part of one step, whatever dots it holds: it leads nowhere else."""
    steps = [""]
    for literal, value in _pieces(path, args):
        first, *others = literal.split(".")
        steps[-1] += first
        steps += others
        steps[-1] += as_text(value) if value is not MISSING else ""
    return steps


def _filled(template: Any, args: dict[str, Any]) -> Any:
    if isinstance(template, dict):
        return {_text(text_of(key), args): _filled(value, args) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(item, args) for item in template]
    if not isinstance(template, str):
        return template
    pieces = list(_pieces(template, args))
    if len(pieces) == 2 and pieces[0][0] == "" and pieces[1] == ("", MISSING):
        return copy.deepcopy(pieces[0][1])
    return _text(template, args)


def _text(template: str, args: dict[str, Any]) -> str:
    return "".join(
        literal + (as_text(value) if value is not MISSING else "") for literal, value in _pieces(template, args)
    )


def _pieces(template: str, args: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The literal texts of a template, each with the argument that follows it; the last has none."""
    position = 0
    while token := _TOKEN.search(template, position):
        steps = token[1].split(".")
        for taken in range(len(steps), 0, -1):
            name = ".".join(steps[:taken])
            value = at(args, name)
            if value is not MISSING:
                break
        else:
            raise _Failure(f"the call has no argument {steps[0]}")
        yield template[position : token.start()], value
        position = token.start(1) + len(name)
    yield template[position:], MISSING
