"""What is to be said about a task before it is used."""

from collections.abc import Iterator
from pathlib import Path

from regrade.errors import Fault, FaultsError, RegradeError
from regrade.formats.selfbench import github
from regrade.formats.selfbench.javascript import joined
from regrade.formats.selfbench.load import DEFINITION, SelfbenchTask, load


def check_folder(folder: Path) -> Iterator[Fault]:
    """The faults of the task in a folder, or the warnings about a sound one."""
    try:
        task = load(folder)
    except FaultsError as error:
        yield from error.faults
        return
    name = folder.resolve().name
    if task.definition.task_id != name:
        found = f'is "{task.definition.task_id}": a benchmark takes the task once its folder, {name!r}, is called so'
        yield Fault(str(folder / DEFINITION), "taskId", found, "warning")
    yield from check_task(task)


def check_task(task: SelfbenchTask) -> Iterator[Fault]:
    """Every warning about a task: those of its loading, and what a reader or Harbor may stumble over."""
    yield from task.warnings
    source, definition = str(task.folder / DEFINITION), task.definition
    if ".." in definition.task_id:
        found = f'is "{definition.task_id}": Harbor takes no name with two dots in a row, so it cannot be compiled'
        yield Fault(source, "taskId", found, "warning")
    if not float(definition.resources.cpus).is_integer():
        found = f"is {definition.resources.cpus}: older releases of Harbor take whole numbers only"
        yield Fault(source, "resources.cpus", found, "warning")
    for number, path in enumerate(definition.test_paths):
        if joined(path).rstrip("/") == "." or set(path) & set("*?["):
            found = f"is {path!r}: git takes it for a pattern, which holds out every file that it fits"
            yield Fault(source, f"testPaths.{number}", found, "warning")
    name = github.name_of(definition.repo)
    if name and github.is_on_github(definition.source_url):
        try:
            github.check_pull_request(name, definition.source_url, definition.source_pr)
        except RegradeError as error:
            yield Fault(source, "sourceUrl", str(error), "warning")
