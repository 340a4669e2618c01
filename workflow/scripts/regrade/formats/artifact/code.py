"""Checks on a task's Python files, by reading their syntax tree. Nothing is imported or run."""

import ast
import functools
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from regrade.errors import Fault, Severity

CLOCK = {
    "time.time", "time.time_ns", "time.localtime", "time.gmtime", "time.ctime", "datetime.datetime.now",
    "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
}  # fmt: skip
TIMERS = {"time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns", "time.process_time"}
ENTROPY = {"os.urandom", "os.getrandom", "uuid.uuid1", "uuid.uuid4", "random.SystemRandom"}
NETWORK = {
    "aiohttp", "ftplib", "http.client", "httpx", "imaplib", "poplib", "requests", "smtplib", "socket", "telnetlib",
    "urllib.request", "urllib3", "xmlrpc.client",
}  # fmt: skip
SEEDED = {"random.seed", "random.Random", "numpy.random.seed", "numpy.random.default_rng", "numpy.random.RandomState"}
"""Make random numbers repeatable when they are given a seed."""
_NOT_DRAWN = {"Generator", "SeedSequence", "PCG64", "MT19937", "Philox", "BitGenerator"}


def syntax(path: Path) -> Iterator[Fault]:
    """The fault of a file that does not parse."""
    fault = _parse(path)[1]
    if fault:
        yield fault


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of every string and ASCII bytes literal."""
    for node in ast.walk(_parse(path)[0]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            yield node.lineno, text


def grade_function(path: Path) -> Iterator[Fault]:
    """The faults of a grader that has no `grade` that can be called with a folder."""
    tree, fault = _parse(path)
    if fault:
        return
    for node in reversed(tree.body):
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "grade":
            yield Fault(str(path), f"line {node.lineno}", "grade is async, expected a plain function")
            return
        if isinstance(node, ast.FunctionDef) and node.name == "grade":
            if not _takes_one(node.args):
                yield Fault(str(path), f"line {node.lineno}", "grade cannot be called as grade(scratch_dir)")
            return
    if "grade" not in _bound_names(tree):
        yield Fault(str(path), "", "defines no grade, expected a function grade(scratch_dir)")


def foreign_imports(path: Path) -> Iterator[Fault]:
    """Imports of a generator that it will not find: neither standard library nor a file beside it."""
    for line, module in _imports(_parse(path)[0]):
        top = module.split(".")[0]
        beside = (path.parent / f"{top}.py").exists() or (path.parent / top).is_dir()
        if top not in sys.stdlib_module_names and not beside:
            message = f"imports {top!r}, expected the standard library alone: a generator gets nothing else"
            yield Fault(str(path), f"line {line}", message)


def grader_habits(path: Path) -> Iterator[Fault]:
    """What a grader must not depend on. A fault where it is plain; a warning where it may be harmless."""
    tree = _parse(path)[0]
    calls = list(_calls(tree))
    seeded = {name for _, name, given in calls if given and name in SEEDED}
    found = [(line, _about_call(name, given, seeded)) for line, name, given in calls]
    found += [(line, _about_import(module)) for line, module in _imports(tree)]
    for line, about in found:
        if about:
            yield Fault(str(path), f"line {line}", *about)
    yield from _unexplained_imports(path, tree, {name.split(".")[0] for _, name, _ in calls})


def _unexplained_imports(path: Path, tree: ast.Module, called: set[str]) -> Iterator[Fault]:
    """Imports of the clock or of random numbers where no call shows what they are for."""
    for line, module in _imports(tree):
        if module in ("time", "random") and module not in called:
            message = f"imports {module}, expected neither clock nor unseeded random numbers in a grader"
            yield Fault(str(path), f"line {line}", message, "warning")


def _about_call(name: str, given: bool, seeded: set[str]) -> tuple[str, Severity] | None:
    if name in CLOCK:
        return f"{name}() reads the clock, expected the same verdict at any time", "fault"
    if name in ENTROPY:
        return f"{name}() differs at every call, expected the same verdict every time", "fault"
    if name in TIMERS:
        return f"{name}() reads a timer, expected no verdict that depends on it", "warning"
    if name in SEEDED:
        return None if given else (f"{name}() has no seed, expected one made from the task's id", "fault")
    module, _, function = name.rpartition(".")
    if module in ("random", "numpy.random") and function not in _NOT_DRAWN and f"{module}.seed" not in seeded:
        return f"{name}() is not seeded, expected a generator seeded from the task's id", "fault"
    return None


def _about_import(module: str) -> tuple[str, Severity] | None:
    if module in NETWORK or module.split(".")[0] in NETWORK:
        return f"imports {module}, expected no network in a grader", "fault"
    if module.split(".")[0] == "secrets":
        return "imports secrets, expected the same verdict every time", "fault"
    if module == "subprocess":
        return "imports subprocess, expected no other programs: agent code runs through regrade_agent", "warning"
    return None


def _parse(path: Path) -> tuple[ast.Module, Fault | None]:
    return _parse_content(path.read_bytes(), path)


@functools.lru_cache(maxsize=16)
def _parse_content(content: bytes, path: Path) -> tuple[ast.Module, Fault | None]:
    empty = ast.Module(body=[], type_ignores=[])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(content, filename=str(path)), None
    except SyntaxError as error:
        place = f"line {error.lineno}" if error.lineno else ""
        return empty, Fault(str(path), place, f"is not valid Python: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return empty, Fault(str(path), "", f"is not valid Python: {error or type(error).__name__}")


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, module) of every absolute import; `from urllib import request` counts as urllib.request too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name for name in whole if name in NETWORK]
            yield from ((node.lineno, name) for name in found or [node.module])


def _calls(tree: ast.Module) -> Iterator[tuple[int, str, bool]]:
    """(line, full name, whether anything is passed) of every call of something imported."""
    names = _imported_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            head, _, rest = _dotted(node.func).partition(".")
            if head in names:
                full = f"{names[head]}.{rest}" if rest else names[head]
                yield node.lineno, full, bool(node.args or node.keywords)


def _imported_names(tree: ast.Module) -> dict[str, str]:
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                names[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return ".".join([node.id, *parts]) if isinstance(node, ast.Name) else ""


def _takes_one(arguments: ast.arguments) -> bool:
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    keyword_only = any(default is None for default in arguments.kw_defaults)
    return required <= 1 and (positional >= 1 or arguments.vararg is not None) and not keyword_only


def _bound_names(tree: ast.Module) -> set[str]:
    """Names that the module's own level binds by assignment or import (`*` may bind any)."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {"grade" if alias.name == "*" else alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            bound.add(node.name)
    return bound
