"""Running a repository's tests on what a model left: visible ones as it sees them, hidden ones to judge it.

protected.py      paths that a model may not write
restoring/        putting back what decides how tests come out; a Harbor bundle carries it inside
selfbench.py      what of a SelfBench task is put back
tree.py           the repository that is tested: pristine files, and of the model's what it may change
running.py        the two ways to run tests: as a model sees them, and as they judge it
pytest_run.py     one run of pytest in the sandbox
report.py         how a program of ours reports from a process that it shares with foreign code
report_plugin.py  the only thing of ours inside pytest
judging.py        whether a run is a pass

    tested = run_hidden(pristine, workspace, TestCommand(("{python}", "-m", "pytest", "-q")), hidden, "sandboxed")
"""

from regrade.repository_tests.protected import is_protected
from regrade.repository_tests.running import HiddenTest, TestCommand, Tested, run_hidden, run_visible

__all__ = ["HiddenTest", "TestCommand", "Tested", "is_protected", "run_hidden", "run_visible"]
