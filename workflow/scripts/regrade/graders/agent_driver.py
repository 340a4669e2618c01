"""Runs functions that an agent wrote; the only program of ours in the agent code's sandbox.

In: one JSON argument {"workspace", "result": descriptor} and, on stdin, {"path", "function", "calls"}.
Out, on the result descriptor, a JSON line per call: {"call", "value": JSON text} or {"call", "error"}.
Agent code shares this process: it can read the arguments of every call and send any value it likes in any
call's place. That is why values travel and verdicts do not. Stands alone: it imports nothing of Regrade.
"""

import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

LONGEST_ERROR = 500


def load(workspace: str, path: str) -> ModuleType:
    """Import the agent's file. Its folder and the workspace come last on the path: a stray json.py hides nothing."""
    place = Path(workspace, path)
    if not place.is_file():
        raise FileNotFoundError(f"no file {path} in the workspace")
    sys.path += [str(place.parent), workspace]
    name = "artifact" if place.stem in sys.stdlib_module_names or place.stem in sys.modules else place.stem
    loader = importlib.machinery.SourceFileLoader(name, str(place))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def encode(value: Any) -> str:
    """Strict JSON: no NaN, and keys that are texts already, since JSON would silently make them so."""
    text = json.dumps(value, allow_nan=False)
    level = [value]
    while level:
        inner: list[Any] = []
        for outer in level:
            if isinstance(outer, dict):
                for key in outer:
                    if not isinstance(key, str):
                        raise TypeError(f"key {key!r} is a {type(key).__name__}, expected a text")
                inner += outer.values()
            elif isinstance(outer, (list, tuple)):
                inner += outer
        level = inner
    return text


def described(error: BaseException) -> str:
    """An exception in one line; one that cannot even be shown is named by its type."""
    try:
        return f"{type(error).__name__}: {error}"[:LONGEST_ERROR]
    except BaseException:
        return type(error).__name__


def answer(function: Callable[..., Any], arguments: list[Any]) -> dict[str, str]:
    """One call's reply, whatever the function does short of ending the process."""
    try:
        value = function(*arguments)
    except BaseException as error:  # SystemExit and KeyboardInterrupt fail one call as well
        return {"error": described(error)}
    try:
        return {"value": encode(value)}
    except BaseException as error:
        return {"error": f"did not return JSON: {described(error)}"[:LONGEST_ERROR]}


def replies(workspace: str, request: dict[str, Any]) -> Iterator[dict[str, str]]:
    """One reply a call; what fails before the first call fails them all."""
    calls = request["calls"]
    try:
        module = load(workspace, request["path"])
        function = getattr(module, request["function"], None)
    except BaseException as error:
        yield from [{"error": f"could not be imported: {described(error)}"[:LONGEST_ERROR]}] * len(calls)
        return
    if not callable(function):
        yield from [{"error": f"{request['path']} has no function {request['function']}"}] * len(calls)
        return
    for arguments in calls:
        yield answer(function, arguments)


def main() -> None:
    """Import, call, report each reply as it comes, and end without the agent's exit handlers."""
    order = json.loads(sys.argv[1])
    request = json.loads(sys.stdin.buffer.read())
    os.set_inheritable(order["result"], False)
    with os.fdopen(order["result"], "wb") as channel:
        for index, reply in enumerate(replies(order["workspace"], request)):
            channel.write(json.dumps({"call": index, **reply}).encode() + b"\n")
            channel.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
