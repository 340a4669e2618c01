"""What can be seen of a grader without running it.

`in_process` is True when some file of its folder may let agent code run in the grader's own sandbox: it
- puts a folder on sys.path, loads a module or script by path (spec_from_file_location, SourceFileLoader,
  run_path), or imports a module by a computed name, where the path or name is not built from `__file__` or
  constants alone;
- runs exec or eval on anything but a constant;
- reads pickles or unsafe YAML;
- starts a process (subprocess, os.system and their like).
Files that only the gates load (negative_cases.py) do not count. It errs to the safe side, and knows no trick:
it is a label for honest graders, not a wall.
"""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BY_PATH = {"spec_from_file_location": 1, "SourceFileLoader": 1, "run_path": 0, "import_module": 0, "__import__": 0}
_EVALUATORS = {"exec", "eval"}
_UNPICKLERS = {"unsafe_load", "read_pickle", "Unpickler"}
_LOADING = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "torch", "shelve"}
_PROCESSES = {"system", "popen", "execv", "execve", "execvp", "execl", "execlp", "posix_spawn", "spawnv", "spawnl"}


@dataclass(frozen=True)
class Grader:
    """Whether agent code may run beside the grader, and whether it asks for a sandbox for agent code."""

    in_process: bool
    calls_agent: bool


def inspect(folder: Path) -> Grader:
    """Look at every Python file of a grader folder. One that does not parse is harmless: it cannot be imported."""
    sources = list(_sources(folder))
    return Grader(
        in_process=any(_runs_agent_code(source) for source in sources),
        calls_agent=any(b"regrade_agent" in source for source in sources),
    )


def _sources(folder: Path) -> Iterator[bytes]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if name.endswith(".py") and name != "negative_cases.py" and path.is_file():
                yield path.read_bytes()


def _runs_agent_code(source: bytes) -> bool:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    own = _own_names(tree)
    return any(_is_suspect(node, own) for node in ast.walk(tree))


def _own_names(tree: ast.AST) -> set[str]:
    """Names that are only ever assigned what comes from `__file__`, constants, or other such names."""
    values: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                simple = isinstance(target, ast.Name)
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        values.setdefault(name.id, []).append(node.value if simple else None)
        elif isinstance(node, ast.arg):
            values.setdefault(node.arg, []).append(None)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
            values.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name):
                    values.setdefault(name.id, []).append(node.iter)
    own = set(values)
    while True:
        kept = {name for name in own if all(value is not None and _is_own(value, own) for value in values[name])}
        if kept == own:
            return own
        own = kept


_HARMLESS = {"__file__", "Path", "PurePath", "os", "str", "pathlib", "sys"}


def _is_own(value: ast.expr, own: set[str]) -> bool:
    """Whether an expression names nothing but the grader's own place: an attribute or call adds nothing to it."""
    return all(node.id in own or node.id in _HARMLESS for node in ast.walk(value) if isinstance(node, ast.Name))


def _is_suspect(node: ast.AST, own: set[str]) -> bool:
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(_is_search_path(target) for target in targets) and not _is_own(node.value, own)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return _names_subprocess(node)
    return isinstance(node, ast.Call) and _is_suspect_call(node, own)


def _is_search_path(node: ast.expr) -> bool:
    node = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(node, ast.Attribute) and node.attr == "path" and getattr(node.value, "id", "") == "sys"


def _names_subprocess(node: ast.Import | ast.ImportFrom) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return any(name.split(".")[0] in ("subprocess", "pty") for name in names)


def _is_suspect_call(call: ast.Call, own: set[str]) -> bool:
    name, base = _called(call)
    if isinstance(call.func, ast.Attribute) and _is_search_path(call.func.value):
        return not all(_is_own(argument, own) for argument in call.args)
    if name in _BY_PATH:
        given = [*call.args[_BY_PATH[name] :], *(keyword.value for keyword in call.keywords)]
        return not all(_is_own(argument, own) for argument in given)
    if name in _EVALUATORS and not base:
        return not all(isinstance(argument, ast.Constant) for argument in call.args[:1])
    if base == "os" and name in _PROCESSES:
        return True
    return name in _UNPICKLERS or (base in _LOADING and name in ("load", "loads", "open"))


def _called(call: ast.Call) -> tuple[str, str]:
    """(name, what it is an attribute of) of a called function."""
    if isinstance(call.func, ast.Name):
        return call.func.id, ""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr, call.func.value.id if isinstance(call.func.value, ast.Name) else "?"
    return "", ""
