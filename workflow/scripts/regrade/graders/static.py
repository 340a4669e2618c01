"""What can be seen of a grader without running it.

`in_process` is True when some file of its folder may let agent code run in the grader's own sandbox: it
- puts a folder on sys.path, loads a module or script by path (spec_from_file_location, SourceFileLoader,
  run_path), or imports a module by a computed name, where the path or name is not built from `__file__` or
  constants alone;
- changes sys.path, and its working folder to such a place;
- runs exec or eval on anything but a constant;
- reads pickles (also numpy's) or YAML without a safe loader;
- starts a process (subprocess, os.system and their like), runs pytest, or imports ctypes.
Names are followed through imports (`import sys as s`, `from pickle import loads`).
Files that only the gates load (negative_cases.py) do not count. It errs to the safe side, and knows no trick:
it is a label for honest graders, not a wall.
"""

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BY_PATH = {
    "spec_from_file_location": 1,
    "SourceFileLoader": 1,
    "SourcelessFileLoader": 1,
    "ExtensionFileLoader": 1,
    "load_source": 1,
    "load_compiled": 1,
    "load_dynamic": 1,
    "run_path": 0,
    "import_module": 0,
    "__import__": 0,
    "addsitedir": 0,
    "zipimporter": 0,
}
"""Functions that load code, and the first of their arguments that says from where."""

_EVALUATORS = {"exec", "eval"}
_UNPICKLERS = {"unsafe_load", "unsafe_load_all", "read_pickle", "Unpickler"}
_LOADING = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "torch", "shelve"}
_SAFE_LOADERS = {"SafeLoader", "CSafeLoader", "BaseLoader", "CBaseLoader"}
_PROCESSES = {"system", "popen", "execv", "execve", "execvp", "execl", "execlp", "posix_spawn", "spawnv", "spawnl"}
_RUNNING = {"subprocess", "pty", "ctypes"}


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
    own, imported = _own_names(tree), _imported(tree)
    nodes = list(ast.walk(tree))
    moved = any(_moves_away(node, own, imported) for node in nodes)
    return any(_is_suspect(node, own, imported, moved) for node in nodes)


def _imported(tree: ast.AST) -> dict[str, str]:
    """What each imported name stands for, in full: {"p": "pickle", "loads": "pickle.loads"}."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _full_name(node: ast.expr, imported: dict[str, str]) -> str:
    """The dotted name of a function or value; what is not said by names alone starts with `?`."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_full_name(node.value, imported)}.{node.attr}"
    return "?"


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


def _moves_away(node: ast.AST, own: set[str], imported: dict[str, str]) -> bool:
    """Whether this makes a place that is not the grader's the working folder, so that "." is no constant."""
    if not isinstance(node, ast.Call):
        return False
    moves = _full_name(node.func, imported) in ("os.chdir", "os.fchdir", "contextlib.chdir")
    return moves and not all(_is_own(argument, own) for argument in node.args)


def _is_suspect(node: ast.AST, own: set[str], imported: dict[str, str], moved: bool) -> bool:
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        changes = any(_is_search_path(target, imported) for target in targets)
        return changes and (moved or not _is_own(node.value, own))
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return _names_running(node)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and _is_search_path(node.func.value, imported):
        return moved or not all(_is_own(argument, own) for argument in node.args)
    return _is_suspect_call(node, own, imported)


def _is_search_path(node: ast.expr, imported: dict[str, str]) -> bool:
    node = node.value if isinstance(node, ast.Subscript) else node
    return _full_name(node, imported) == "sys.path"


def _names_running(node: ast.Import | ast.ImportFrom) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return any(name.split(".")[0] in _RUNNING for name in names)


def _is_suspect_call(call: ast.Call, own: set[str], imported: dict[str, str]) -> bool:
    base, _, name = _full_name(call.func, imported).rpartition(".")
    if name in _BY_PATH:
        given = [*call.args[_BY_PATH[name] :], *(keyword.value for keyword in call.keywords)]
        return not all(_is_own(argument, own) for argument in given)
    if name in _EVALUATORS and base in ("", "builtins"):
        return not all(isinstance(argument, ast.Constant) for argument in call.args[:1])
    if (base == "os" and name in _PROCESSES) or (base == "pytest" and name == "main"):
        return True
    return name in _UNPICKLERS or _unpickles(call, base, name, imported)


def _unpickles(call: ast.Call, base: str, name: str, imported: dict[str, str]) -> bool:
    """Whether a function called `load` or the like makes objects of any class."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if base == "yaml" and name in ("load", "load_all"):
        loader = keywords.get("Loader", call.args[1] if len(call.args) > 1 else None)
        return loader is None or _full_name(loader, imported).rpartition(".")[2] not in _SAFE_LOADERS
    allowed = keywords.get("allow_pickle")
    if name == "load" and allowed is not None:
        return not (isinstance(allowed, ast.Constant) and allowed.value is False)
    return base in _LOADING and name in ("load", "loads", "open")
