"""Which tasks of suites are run: the configuration's `filter`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from regrade.errors import Fault, FaultsError
from regrade.formats.suite.task import SuiteTask
from regrade.nearest import nearest

_VALUES: dict[str, Callable[[SuiteTask], Iterable[str]]] = {
    "category": lambda task: (task.stem, task.category),
    "tier": lambda task: (task.tier,),
    "tags": lambda task: map(str, _listed(task.fields.get("tags"))),
    "ids": lambda task: (task.id,),
}


def filter_tasks(tasks: Mapping[str, SuiteTask], wanted: Mapping[str, Any]) -> dict[str, SuiteTask]:
    """The tasks that fit every key; of a key's values (a text or several) one is enough. The order stays.

    Raises FaultsError for a value that no task has, with the nearest that one has, and if nothing is left.
    """
    chosen = {key: _listed(value) for key, value in wanted.items()}
    faults = []
    for key, values in chosen.items():
        known = {value for task in tasks.values() for value in _VALUES[key](task)}
        for value in values:
            if value not in known:
                faults.append(Fault("config", f"filter.{key}", f"{value!r} fits no task{nearest(value, known)}"))
    left = {name: task for name, task in tasks.items() if _fits(task, chosen)}
    if not left and not faults:
        faults.append(Fault("config", "filter", f"{dict(wanted)!r} leaves no task, expected at least one"))
    if faults:
        raise FaultsError(faults)
    return left


def _fits(task: SuiteTask, chosen: Mapping[str, list[str]]) -> bool:
    return all(any(value in values for value in _VALUES[key](task)) for key, values in chosen.items())


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
