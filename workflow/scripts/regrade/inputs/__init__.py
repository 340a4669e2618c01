"""A task's inputs: what an agent finds in its workspace.

survey.py      what lies in a folder, with links followed as far as they stay inside
generator.py   running a task's generator in the sandbox
leaks.py       looking for anything of the grader's among the inputs
materialize.py the three together, into one folder
stage.py       the stage `inputs`: the pristine copy and its manifest
"""

from regrade.inputs.generator import LIMITS, MARKER, seed_of
from regrade.inputs.materialize import materialize
from regrade.inputs.stage import write_inputs

__all__ = ["LIMITS", "MARKER", "materialize", "seed_of", "write_inputs"]
