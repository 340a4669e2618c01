"""What is to be done: sets and runs to trials, and for each stage the specification of one job.

A specification is a JSON value that stands in a rule's `params`: it holds all that may change a job's result, so a job
runs again exactly when its specification does. Nothing here writes a file or asks a model.

task.py       what every format's task shows of itself, and a trial
jobs.py       what all formats' plans are made with
attempts.py   how often a job has ended in an infrastructure error
artifact.py   the specifications of artifact tasks
benchpack.py  the specifications of benchpack cases
suite.py      the specifications of suite tasks
selfbench.py  the specifications of SelfBench tasks
selection.py  which suite tasks are asked together
"""

from regrade.plan.plan import Plan
from regrade.plan.selection import Selection
from regrade.plan.task import Output, Task, Trial

__all__ = ["Output", "Plan", "Selection", "Task", "Trial"]
