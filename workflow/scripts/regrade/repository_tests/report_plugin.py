"""What pytest reports to Regrade (report.py): how each file's tests came out. The only thing of ours inside pytest.

Stands alone: it imports nothing of Regrade. The order is {"root": the repository's folder, "hidden": files whose
tests are run whatever the command selects, "named": those of them that are named to pytest, "last": our own among them,
run last, "changed": the model's files, "added": those of them that were not there before}.
The report is {"word", "exit": pytest's own exit code, "files": {hidden file: {outcome: how many}}, "passed": tests,
"failed": some names, "skipped": names of tests that code under test itself skipped}.
"""

import json
import os
import sys
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

_MOST_NAMES = 20
_LONGEST_NAME = 200


class Reporter:
    """Counts how tests come out, and tells it when pytest is done."""

    def __init__(self, order: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> None:
        self._order = order
        self._tell = tell
        self._added, self._hidden = set(order["added"]), set(order["hidden"])
        self._changed = {os.path.realpath(os.path.join(order["root"], name)) for name in order["changed"]}
        self._session: Any = None
        self._passed = 0
        self._files: dict[str, dict[str, int]] = {}
        self._failed: list[str] = []
        self._skipped: list[str] = []

    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session

    def pytest_ignore_collect(self, collection_path: Any) -> bool | None:
        """Tests that the model added are not collected; the code under test may still import them."""
        return True if self._name(collection_path) in self._added else None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Generator[None, None, None]:
        """No selection of the command leaves a hidden test out, and ours is the last."""
        found = list(items)
        yield
        kept = set(items)
        items += [item for item in found if item not in kept and self._name(item.path) in self._hidden]
        items.sort(key=lambda item: self._name(item.path) == self._order["last"])

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._failed.append(report.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, Any]:
        raised = call.excinfo
        report = yield
        if report.outcome == "skipped" and self._is_of_changed_code(raised):
            self._skipped.append(report.nodeid)
        if report.when == "call" or report.outcome != "passed":
            outcome = "xfailed" if report.outcome == "skipped" and hasattr(report, "wasxfail") else report.outcome
            self._passed += outcome == "passed"
            counts = self._files.setdefault(self._name(item.path), {})
            counts[outcome] = counts.get(outcome, 0) + 1
            self._failed += [report.nodeid] if outcome == "failed" else []
        return report

    def pytest_unconfigure(self) -> None:
        hidden = {name: counts for name, counts in self._files.items() if name in self._hidden}
        names = {"failed": self._failed, "skipped": self._skipped}
        short = {key: [name[:_LONGEST_NAME] for name in value[:_MOST_NAMES]] for key, value in names.items()}
        ended = int(self._session.exitstatus) if self._session is not None else None
        self._tell({"exit": ended, "files": hidden, "passed": self._passed, **short})

    def _name(self, path: Any) -> str:
        name: str = os.path.relpath(path, self._order["root"])
        return name

    def _is_of_changed_code(self, excinfo: Any) -> bool:
        """Whether a test was given up by a call out of a file that the model wrote."""
        given_up = [pytest.skip.Exception, pytest.xfail.Exception]
        given_up += [sys.modules["unittest"].SkipTest] if "unittest" in sys.modules else []
        if excinfo is None or not isinstance(excinfo.value, tuple(given_up)):
            return False
        step = excinfo.tb
        while step is not None:
            if os.path.realpath(step.tb_frame.f_code.co_filename) in self._changed:
                return True
            step = step.tb_next
        return False


def _channel() -> Iterator[tuple[dict[str, Any], Callable[[dict[str, Any]], None]]]:
    """The order, and how to tell; once. Processes that tests start find nothing of us in their environment."""
    source, result = (int(os.environ.pop(name)) for name in ("REGRADE_WORD", "REGRADE_REPORT"))
    with open(int(os.environ.pop("REGRADE_ORDER")), "rb") as stream:
        order = json.loads(stream.read())
    for descriptor in (source, result):
        os.set_inheritable(descriptor, False)
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ["PYTHONPATH"] = order["root"]
    owner, dumps, pid, read, write, close = os.getpid(), json.dumps, os.getpid, os.read, os.pwrite, os.close

    def tell(report: dict[str, Any]) -> None:
        if pid() == owner:
            write(result, dumps({"word": read(source, 200).decode(), **report}).encode(), 0)
            close(result)

    return iter([(order, tell)])


# Taken up when pytest loads plugins, before the repository's conftest.py can load code under test.
_given = _channel()


def pytest_configure(config: Any) -> None:
    """Called once by pytest, before anything is collected."""
    order, tell = next(_given)
    places = [os.path.realpath(str(word).split("::")[0]) for word in config.args]
    for name in order["named"]:
        path = os.path.join(order["root"], name)
        if not any(os.path.commonpath([place, path]) == place for place in places):
            config.args.append(path)
    # Whatever names the repository gives its tests, these are some.
    config.getini("python_files").extend(os.path.basename(name) for name in order["named"])
    config.getini("python_functions").append("test_regrade_")
    config.pluginmanager.register(Reporter(order, tell), "regrade-reporter")
