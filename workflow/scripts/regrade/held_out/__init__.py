"""Running a SelfBench task here: its snapshot, its held-out tests on a patch, and the gates that prove the task.

snapshot.py     the base commit's files, set up once (stage `snapshot`)
prepared.py     where they lie
base.py         the one commit that agents find, and what a workspace changed in it
prove.py        audit, nop and reference solution, coupling (stage `prove`)
grade_patch.py  the grade of a trial (stage `grade_patch`)
grading.py      held-out tests on one patch
app.py          running a command where the task's files are at /app
selectors.py    what became of each selector
network.py      failures that look like the network's
pytest_reporter.py, node_reporter.mjs    what pytest and node's runner report to us, from inside
"""
