"""YAML task suites: a file holds many tasks, each with a prompt and a way of scoring.

task.py      what a task is
reading.py   a file with its lines and words
parse.py     the tasks in it, and their faults: checks.py, scoring_checks.py, in the words of wording.py
load.py      all tasks below a folder; fixtures.py finds what they name beside themselves
check.py     what is to be said of the folder beyond that
filter.py    which of them are run
oracle.py    reference answers
dataset.py   the rows of a data set as tasks
request.py   what is sent to a model
answer.py    what came back, as scorers see it
"""

from regrade.formats.suite.load import Loaded, load_all, load_files, load_task
from regrade.formats.suite.task import SuiteTask

__all__ = ["Loaded", "SuiteTask", "load_all", "load_files", "load_task"]
