"""SelfBench tasks: a repository at a commit, hidden tests as a patch, and the solution as another one.

fields.py      what each field of a definition.json may hold; urls.py and javascript.py read what it leans on
definition.py  a definition: reading it with every fault, its canonical text and digest
diffs.py       the files and lines that a patch changes, read as git means them
load.py        a task's folder, and all tasks below a folder
expansion.py   test commands with their selectors, held-out paths
audit.py       what a program can see of a task's quality without running it
coupling.py    names that hidden tests assert and only the solution holds; candidates.py finds them
repository.py  the base commit: its files, and whether they hold a name
dependencies.py the part of a solution that the set-up for its tests needs
repair.py      what may be changed in a task that was refused
submit.py      writing a task that is handed in
github.py      addresses of repositories and pull requests
redaction.py   secrets taken out of what is written down
"""

from regrade.formats.selfbench.definition import Definition, canonical, digest, parse, pretty
from regrade.formats.selfbench.load import Loaded, SelfbenchTask, discover, load, load_all, load_folders

__all__ = [
    "Definition",
    "Loaded",
    "SelfbenchTask",
    "canonical",
    "digest",
    "discover",
    "load",
    "load_all",
    "load_folders",
    "parse",
    "pretty",
]
