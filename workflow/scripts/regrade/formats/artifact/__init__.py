"""Artifact tasks: a prompt and a workspace in, one file out, graded by the task's own grader.

task.py     what a task is, and reading one from its folder
manifest.py the faults of a task.yaml by itself
places.py   the faults of the paths in it
load.py     all tasks below a folder
check.py    what a program can see of a task's quality; workspace_files.py and code.py are its parts
"""

from regrade.formats.artifact.load import Loaded, discover, load_all, pick
from regrade.formats.artifact.task import ArtifactTask, load

__all__ = ["ArtifactTask", "Loaded", "discover", "load", "load_all", "pick"]
