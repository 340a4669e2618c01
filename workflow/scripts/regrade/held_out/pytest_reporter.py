"""What pytest reports of held-out tests (repository_tests/report.py): how each file's tests came out.

Stands alone: it imports nothing of Regrade, and is the only thing of ours inside pytest. The report is {"word", "exit":
pytest's own exit code, "files": {file, from the repository's root: {outcome: how many}}, "tests": {file::name:
outcome}, "false": how a test came out that is always false, null where it was not run}.
"""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from _pytest.fixtures import FuncFixtureInfo
from _pytest.runner import runtestprotocol

_MOST_FILES = 2000
_MOST_TESTS, _LONGEST = 2000, 200


class Reporter:
    """Counts how tests come out, and tells it when pytest is done."""

    def __init__(self, root: str, tell: Callable[[dict[str, Any]], None]) -> None:
        self._root = root
        self._tell = tell
        self._session: Any = None
        self._files: dict[str, dict[str, int]] = {}
        self._tests: dict[str, str] = {}
        self._false: str | None = None

    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._count(report.nodeid, "failed")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self._count(report.nodeid, report.outcome)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> None:
        """After a pass, show that tests can fail: code under test may have changed pytest itself."""
        if int(exitstatus) == 0:
            self._false = _outcome_of_false(session)

    def pytest_unconfigure(self) -> None:
        ended = int(self._session.exitstatus) if self._session is not None else None
        self._tell({"exit": ended, "files": self._files, "tests": self._tests, "false": self._false})

    def _count(self, nodeid: str, outcome: str) -> None:
        file, _, test = nodeid.partition("::")
        name = os.path.relpath(os.path.join(str(self._session.config.rootpath), file), self._root)
        self._note(f"{name}::{test}", outcome)
        if name in self._files or len(self._files) < _MOST_FILES:
            counts = self._files.setdefault(name, {})
            counts[outcome] = counts.get(outcome, 0) + 1

    def _note(self, test: str, outcome: str) -> None:
        """How one test came out; a failure, also of its clean-up, outweighs a pass."""
        if test in self._tests or (len(self._tests) < _MOST_TESTS and len(test) < _LONGEST):
            self._tests[test] = outcome if self._tests.get(test) != "failed" else "failed"


def _false() -> None:
    raise AssertionError


def _outcome_of_false(session: Any) -> str | None:
    """How pytest says that a false test came out, without its fixtures or a word to anybody else."""
    try:
        no_fixtures = FuncFixtureInfo((), (), [], {})
        item = pytest.Function.from_parent(session, name="false", callobj=_false, fixtureinfo=no_fixtures)
        reports = runtestprotocol(item, log=False, nextitem=None)
    except Exception:  # another pytest, made otherwise inside: then nothing is known
        return None
    return next((report.outcome for report in reports if report.outcome != "passed"), "passed")


def _teller() -> Callable[[dict[str, Any]], None]:
    """How to tell, once, and only from this process. Processes that tests start find nothing of us around them."""
    source, result = (int(os.environ.pop(name)) for name in ("REGRADE_WORD", "REGRADE_REPORT"))
    os.close(int(os.environ.pop("REGRADE_ORDER")))
    for descriptor in (source, result):
        os.set_inheritable(descriptor, False)
    os.environ.pop("NODE_OPTIONS", None)
    _restore("PYTHONPATH")
    _restore("PYTEST_ADDOPTS")
    owner, dumps, pid, read, write, close = os.getpid(), json.dumps, os.getpid, os.read, os.pwrite, os.close

    def tell(report: dict[str, Any]) -> None:
        if pid() == owner:
            write(result, dumps({"word": read(source, 200).decode(), **report}).encode(), 0)
            close(result)

    return tell


def _restore(name: str) -> None:
    before = os.environ.pop(f"REGRADE_{name}", "")
    if before:
        os.environ[name] = before
    else:
        os.environ.pop(name, None)


# Taken up when pytest loads plugins, before the repository's conftest.py can load code under test. A second pytest of
# one command finds no channel any more, and reports nothing.
_root = os.environ.pop("REGRADE_ROOT", "")
_tell = _teller() if "REGRADE_WORD" in os.environ else None


def pytest_configure(config: Any) -> None:
    """Called once by pytest, before anything is collected."""
    if _tell is not None:
        config.pluginmanager.register(Reporter(_root, _tell), "regrade-reporter")
