"""Running a repository's tests on what a model left: visible ones as it sees them, hidden ones to judge it.

protected.py      paths that a model may not write
tree.py           the repository that is tested: pristine files, and of the model's what it may change
running.py        one run of pytest in the sandbox, and what it reported
report_plugin.py  the only thing of ours inside pytest

    tested = run_hidden(pristine, workspace, TestCommand(("{python}", "-m", "pytest", "-q")), hidden, "sandboxed")
"""

from regrade.repository_tests.protected import is_protected
from regrade.repository_tests.running import HiddenTest, TestCommand, Tested, run_hidden, run_visible

__all__ = ["HiddenTest", "TestCommand", "Tested", "is_protected", "run_hidden", "run_visible"]
