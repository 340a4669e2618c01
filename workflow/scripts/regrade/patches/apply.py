"""Applying the patch in a model's answer to a workspace: a unified diff, or one whole file."""

from dataclasses import dataclass
from pathlib import Path

from regrade.errors import SandboxError
from regrade.patches import NOT_CLEAN, RefusedError, fenced, replacement
from regrade.patches.bare_hunks import need_no_context
from regrade.patches.git_apply import GitApply, GitTimeoutError
from regrade.patches.policy import check_section
from regrade.patches.strip import level_of
from regrade.patches.unified import Diff, read

_NO_BLOCK = "No fenced diff or patch block found in model output; workspace left unchanged.\n"
_HALF_DONE = "Patch application failed after preflight; workspace may be partially changed.\n"
_REASONS = {
    "fenced patch block is empty": "empty_patch",
    "git apply --check timed out": "agent_timeout",
    "git executable not found": "sandbox_error",
    "workspace could not be accessed": "sandbox_error",
}


@dataclass(frozen=True)
class Applied:
    """What became of a patch: the task's two logs, a reason (statuses.TABLE) if it was not applied, and git's words."""

    applied: bool
    stdout: str = ""
    stderr: str = ""
    reason: str = ""
    detail: str = ""


def apply_response(workspace: Path, response: str, timeout_s: float | None) -> Applied:
    """Apply the first fenced `diff` or `patch` block of an answer; all of it or nothing.

    `timeout_s` bounds each call of git by itself. Raises SandboxError if it ends the applying call: then the
    workspace may be half changed.
    """
    block = fenced.first_block(response)
    if block is None:
        return Applied(False, stderr=_NO_BLOCK, reason="invalid_format" if response.strip() else "no_response")
    if block.startswith(replacement.BEGIN):
        return _apply_file(workspace, block)
    return _apply_diff(workspace, block, timeout_s)


def _apply_file(workspace: Path, block: str) -> Applied:
    try:
        replacement.apply_file(workspace, block)
    except RefusedError as why:
        return _rejected("Replacement file rejected", str(why))
    return Applied(True, stdout="Applied fenced model replacement file to workspace.\n")


def _apply_diff(workspace: Path, block: str, timeout_s: float | None) -> Applied:
    git = GitApply(workspace, 1, timeout_s)
    try:
        diff = _checked(workspace, block)
        git.strip = level_of(diff.kept, workspace)
        mode = git.preflight(diff, need_no_context(diff.kept, workspace))
    except GitTimeoutError:
        return _rejected("Patch rejected", "git apply --check timed out")
    except RefusedError as why:
        return _rejected("Patch rejected", str(why))
    except OSError as error:
        return _rejected("Patch rejected", "workspace could not be accessed", f"{error}\n")
    if mode is None:
        return _rejected("Patch rejected", NOT_CLEAN, git.said)
    try:
        if not git.run(diff, mode):
            return Applied(False, stderr=_HALF_DONE, reason="patch_rejected", detail=git.said)
    except GitTimeoutError as error:
        raise SandboxError(f"git apply was stopped after {timeout_s:g} s; the workspace may be half changed") from error
    left_out = "".join(f"Binary change left out, the diff does not hold its bytes: {name}\n" for name in diff.left_out)
    return Applied(True, stdout="Applied fenced model patch to workspace.\n", stderr=left_out)


def _checked(workspace: Path, block: str) -> Diff:
    """The block as a diff that names files, and none that it may not touch."""
    if not block.strip():
        raise RefusedError("fenced patch block is empty")
    if not workspace.is_dir():
        raise RefusedError("workspace could not be accessed")
    try:
        block.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise RefusedError(NOT_CLEAN) from None
    diff = read(block)
    if not any(section.written for section in diff.sections):
        raise RefusedError("no file paths found in unified diff")
    for section in diff.sections:
        check_section(workspace, section)
    return diff


def _rejected(what: str, why: str, detail: str = "") -> Applied:
    reason = _REASONS.get(why, "patch_rejected")
    return Applied(False, stderr=f"{what}: {why}; workspace left unchanged.\n", reason=reason, detail=detail)
