"""Put back what an agent's patch changed of what decides the tests.

    python3 -m regrade.repository_tests.restoring PRISTINE TREE CHANGED ASKED

CHANGED is what `git apply --numstat -z` prints of the patch, ASKED holds the other arguments of `restore` as a JSON
object.
"""

import json
import os
import sys
from pathlib import Path

from regrade.repository_tests.restoring.trees import CannotRestoreError, restore


def main(arguments: list[str]) -> int:
    """Restore what is asked for; 0, or 1 with a line on why it could not be done."""
    asked = json.loads(Path(arguments[3]).read_bytes())
    listed = os.fsdecode(Path(arguments[2]).read_bytes()).split("\0")
    changed = [entry.split("\t", 2)[2] for entry in listed if entry]
    try:
        for name in restore(Path(arguments[0]), Path(arguments[1]), changed, **asked):
            print(f"restored {name!a}")
    except (CannotRestoreError, OSError) as error:
        print(f"cannot restore what decides the tests: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
