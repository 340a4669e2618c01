"""The difference between two folders as a git patch: evidence to read, never applied again."""

import os
import subprocess
import tempfile
from pathlib import Path

from regrade import workspace as workspaces
from regrade.errors import RegradeError

_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CEILING_DIRECTORIES": "/",
    "LC_ALL": "C",
}
_DIFF = ["git", "-c", "core.bigFileThreshold=4m", "diff", "--no-index", "--no-prefix", "--no-renames", "--no-color"]


def capture(source: Path, workspace: Path) -> bytes:
    """The patch that turns `source` into `workspace`: new, deleted, empty and binary files and modes included.

    Git's own configuration on this machine has no say. Both folders may hold links, which are compared, never followed.
    """
    with tempfile.TemporaryDirectory(prefix="regrade-patch-", dir=workspace.parent) as folder:
        before, after = Path(folder, "a"), Path(folder, "b")
        # Git takes the prefixes a/ and b/ from the folders' names.
        try:
            workspaces.link_inputs(source, before)
        except OSError:
            workspaces.remove(before)
            workspaces.copy_inputs(source, before)
        workspace.rename(after)
        try:
            done = subprocess.run(
                [*_DIFF, "--binary", "--", "a", "b"], cwd=folder, env=_ENVIRONMENT, capture_output=True, check=False
            )
        finally:
            after.rename(workspace)
    if done.returncode not in (0, 1):
        raise RegradeError(f"{workspace}: git diff failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
