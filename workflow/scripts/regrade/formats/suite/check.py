"""What `regrade check` says of suites beyond the faults that loading finds."""

import re
from collections.abc import Iterator
from pathlib import Path

from regrade.errors import Fault, FaultsError
from regrade.formats.suite import oracle
from regrade.formats.suite.load import Loaded, load_files
from regrade.formats.suite.task import SuiteTask

_BESIDE = ("oracle", "fixtures", "images")
"""Folders beside task files that hold no task files."""

_TASKS = re.compile(rb"""^(?:tasks|"tasks"|'tasks')[ \t]*:|\A\{.*["']?\btasks["']?[ \t]*:""", re.MULTILINE | re.DOTALL)
_NOT_YET = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s+|#[^\n]*|%[^\n]*\n|---(?=\s))*")
"""What may stand in front of a document."""


def is_suite(path: Path) -> bool:
    """Whether a YAML file looks like tasks: a list, or a mapping with `tasks`. It need not be valid."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    found = _NOT_YET.match(content)
    start = content[found.end() if found else 0 :]
    return start.startswith((b"- ", b"-\n", b"-\r", b"[")) or _TASKS.search(start) is not None


def check_suites(paths: list[Path]) -> Iterator[Fault]:
    """Faults and warnings of files of tasks, and of what lies around them. Ids must differ in one folder."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        folders.setdefault(path.parent, []).append(path)
    for folder, files in folders.items():
        loaded = load_files(files)
        yield from loaded.all_faults()
        for task in loaded.tasks.values():
            yield from _template(task)
        yield from _references(folder, loaded)
        if {path.name for path in folder.glob("*.yaml")} <= {path.name for path in files}:
            yield from _not_read(folder)


def _template(task: SuiteTask) -> Iterator[Fault]:
    """A template that fills in nothing, whatever the row."""
    if not task.is_dataset:
        return
    from jinja2 import TemplateSyntaxError
    from jinja2.sandbox import SandboxedEnvironment

    try:
        SandboxedEnvironment().parse(str(task.fields["template"]))
    except TemplateSyntaxError as error:
        said = f"is no valid template: line {error.lineno} of it: {error.message}"
        yield Fault(task.file, f"line {task.line}: {task.id}: template", said)


def _not_read(folder: Path) -> Iterator[Fault]:
    """Files in a folder of suites that look like part of it, and are none."""
    for path in sorted(folder.glob("*.yml")):
        yield Fault(str(path), "", "is not read, expected *.yaml: rename it", "warning")
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and path.name not in _BESIDE):
        if any(is_suite(path) for path in sorted(inner.glob("*.yaml"))):
            said = "holds *.yaml files that are not read: tasks stand directly in the suites' folder"
            yield Fault(str(inner), "", said, "warning")
    stems = {path.stem for path in folder.glob("*.yaml")}
    for path in sorted((folder / "oracle").glob("*.y*ml")):
        if path.suffix == ".yml":
            yield Fault(str(path), "", "is not read, expected *.yaml: rename it", "warning")
        elif path.stem not in stems:
            yield Fault(str(path), "", f"answers the tasks of {path.name}, and {folder / path.name} is not there")


def _references(folder: Path, loaded: Loaded) -> Iterator[Fault]:
    """Reference answers that cannot be read, or that answer no task."""
    known: dict[str, set[str]] = {path.stem: set() for path in loaded.files}
    for task in loaded.tasks.values():
        known[task.stem].add(task.id)
    for stem, ids in known.items():
        path = oracle.path_of(folder, stem)
        try:
            references = oracle.load(path)
        except FaultsError as error:
            yield from error.faults
            continue
        datasets = [task.id for task in loaded.tasks.values() if task.stem == stem and task.is_dataset]
        for name in references:
            if name not in ids and name not in loaded.faults and not any(name.startswith(f"{of}_") for of in datasets):
                yield Fault(str(path), name, f"answers no task of {stem}.yaml, expected the id of one")
