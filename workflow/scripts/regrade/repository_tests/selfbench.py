"""What is put back before an answer to a SelfBench task is graded, here and in Harbor's verifier alike."""

from typing import Any

from regrade.formats.selfbench import diffs
from regrade.formats.selfbench.expansion import held_out
from regrade.formats.selfbench.load import SelfbenchTask
from regrade.repository_tests.restoring.imports import takes_over
from regrade.repository_tests.restoring.names import is_runner_file


def restored(task: SelfbenchTask, gold_patch: bytes) -> dict[str, Any]:
    """The arguments of `restore` beside the two trees and what was changed.

    Configuration and modules that the reference solution changes are work: they stay as somebody made them.
    """
    definition = task.definition
    roots = ("", definition.workdir)
    work = [path for path in diffs.paths(gold_patch) if is_runner_file(path) or takes_over(path, roots)]
    tests = list(definition.pass_to_pass)
    return {"tests": tests, "held_out": held_out(task), "work": work, "workdir": definition.workdir}
