"""Graders: foreign code that says whether an artifact is right.

grading.py       grade one workspace (what everybody else calls)
view.py          what a grader sees: pristine inputs and what the trial left
runner.py        inside the grader's sandbox; on_path/ is what stands on its path beside the grader's folder
broker.py        starts a second sandbox when a grader asks for agent code to be run; agent_driver.py is inside it
channel.py       the pipe that results come over
static.py        what can be seen of a grader without running it
cases.py         a grader's own negative cases; case_runner.py is inside their sandbox
verdict.py       how a grader's words become a reason
"""

from regrade.graders.grading import Conditions, GraderLimits, grade_workspace
from regrade.verdicts import Verdict

__all__ = ["Conditions", "GraderLimits", "Verdict", "grade_workspace"]
