"""What pytest reports to Regrade: how each test came out, over a descriptor, with a word that only the parent knows.

Stands alone: it imports nothing of Regrade. Both descriptors are read before any code under test is imported, the word
is kept in no variable of a module, and the report is written when the session is over.
"""

import json
import os
from typing import Any


def _reporter() -> Any:
    result = os.dup(int(os.environ.pop("REGRADE_REPORT")))
    source = int(os.environ.pop("REGRADE_WORD"))
    word = os.read(source, 200).decode()
    os.close(source)
    os.set_inheritable(result, False)
    owner = os.getpid()
    outcomes: dict[str, str] = {}

    class Reporter:
        def pytest_runtest_logreport(self, report: Any) -> None:
            # A test that failed in any of its phases has failed.
            counts = report.when == "call" or report.outcome != "passed"
            if counts and outcomes.get(report.nodeid) != "failed":
                outcomes[report.nodeid] = report.outcome

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                outcomes[report.nodeid] = "failed"

        def pytest_unconfigure(self) -> None:
            if os.getpid() == owner:
                os.write(result, json.dumps({"word": word, "outcomes": outcomes}).encode())

    return Reporter()


def pytest_configure(config: Any) -> None:
    """Called once by pytest, before anything is collected."""
    config.pluginmanager.register(_reporter(), "regrade-reporter")
