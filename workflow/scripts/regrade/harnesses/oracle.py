"""The ceiling: the reference output stands where the artifact is expected."""

from pathlib import Path

from regrade import workspace
from regrade.errors import InputsError, RegradeError
from regrade.formats.selfbench import diffs
from regrade.git import GitError, git
from regrade.harnesses import Acted, Context

WRITES_IN_PLACE = False


def run(context: Context, acted: Acted) -> None:
    """Put the task's reference output into the workspace, byte for byte, or apply its reference patch."""
    content = Path(context.spec["task"]["reference"]).read_bytes()
    if not context.output_artifact:
        _apply(content, context.workspace)
        return
    try:
        workspace.write_into(context.workspace, context.output_artifact, content)
    except RegradeError as error:
        raise InputsError(f"the reference output cannot stand where the artifact is expected: {error}") from error


def _apply(patch: bytes, place: Path) -> None:
    try:
        git(place, "apply", f"-p{diffs.strip_level(patch)}", "--binary", "--whitespace=nowarn", stdin=patch)
    except GitError as error:
        raise InputsError(f"the reference solution does not apply to the base commit: {error}") from error
