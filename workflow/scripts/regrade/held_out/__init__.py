"""Running a SelfBench task here: its snapshot, its held-out tests on a patch, and the gates that prove the task.

snapshot.py   the base commit's files, set up once (stage `snapshot`)
base.py       the one commit that agents find, and what a workspace changed in it
app.py        running a command where the task's files are at /app
grading.py    held-out tests on one patch
gates.py      audit, nop and gold patch, coupling (stage `prove`)
trial_grade.py  the grade of a trial (stage `grade_patch`)
"""
