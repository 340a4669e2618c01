"""The one place where foreign code runs: agents, model-written code, generators, verifiers and graders.

from regrade import sandbox
outcome = sandbox.run(sandbox.Command(["python", "-I", "/workspace/verify.py"], mounts, "/workspace", limits))
"""

from regrade.sandbox.command import Command, Limits, Mode, Mount, Outcome
from regrade.sandbox.running import available, run

__all__ = ["Command", "Limits", "Mode", "Mount", "Outcome", "available", "run"]
