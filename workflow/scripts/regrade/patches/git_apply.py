"""`git apply` in a workspace, as if this machine, the folders above and the workspace had no git settings."""

import os
import subprocess
import tempfile
from pathlib import Path

from regrade.patches import RefusedError
from regrade.patches.unified import Diff

Mode = tuple[str, ...]
_RECOUNT = "--recount"
_ZERO_CONTEXT = "--unidiff-zero"

# A repository of our own whose attributes win over a `.gitattributes` in the workspace, so that git converts no line.
_REPOSITORY = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    "info/attributes": "* -text -ident !eol !filter !working-tree-encoding\n",
    "objects/none": "",
    "refs/none": "",
}


class GitTimeoutError(Exception):
    """git was stopped after `timeout_s`."""


class GitApply:
    """`git apply` for one workspace. `timeout_s` bounds each call by itself; `said` is git's last message."""

    def __init__(self, workspace: Path, strip: int, timeout_s: float | None) -> None:
        self.workspace, self.strip, self.timeout_s = workspace, strip, timeout_s
        self.said = ""

    def preflight(self, diff: Diff, without_context: bool) -> Mode | None:
        """The first mode in which the diff applies cleanly with none of its lines passed over, or None.

        Raises GitTimeoutError, and RefusedError where git or the workspace cannot be had.
        """
        usual: Mode = (_ZERO_CONTEXT,) if without_context else ()
        for mode in ((_RECOUNT, *usual), usual):
            if self.run(diff, ("--check", *mode)):
                counted_by_git = _RECOUNT in mode and "recount: " not in self.said
                if counted_by_git or not any(section.stray for section in diff.sections):
                    return mode
        return None

    def run(self, diff: Diff, options: Mode) -> bool:
        """Whether git applied (or, with --check, would apply) the diff."""
        command = ["git", "apply", "--whitespace=nowarn", f"-p{self.strip}", *options]
        content = diff.text.encode("utf-8", "surrogateescape")
        with tempfile.TemporaryDirectory(prefix="regrade-git-") as folder:
            environment = _environment(Path(folder), self.workspace)
            try:
                done = subprocess.run(
                    command,
                    cwd=self.workspace,
                    env=environment,
                    input=content,
                    capture_output=True,
                    timeout=self.timeout_s,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise GitTimeoutError from error
            except FileNotFoundError as error:
                missing = "git executable not found" if error.filename == "git" else "workspace could not be accessed"
                raise RefusedError(missing) from error
            except OSError as error:
                raise RefusedError("workspace could not be accessed") from error
        self.said = done.stderr.decode("utf-8", "replace")
        return done.returncode == 0


def _environment(repository: Path, workspace: Path) -> dict[str, str]:
    for name, content in _REPOSITORY.items():
        place = repository / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(content)
    root = os.path.realpath(workspace)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": os.path.dirname(root),
        "GIT_DIR": str(repository),
        "GIT_WORK_TREE": root,
    }
