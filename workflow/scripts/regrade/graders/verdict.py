"""What grading one workspace gave, and how a grader's words become a reason."""

from dataclasses import dataclass, field

from regrade.statuses import Status, status_of

NOT_PRODUCED = "output artifact not produced"
_UNREADABLE = ("output artifact failed to parse", "output artifact is empty")


@dataclass(frozen=True)
class Verdict:
    """passed, score and detail are None when there is no verdict; then reason, message and traceback say why."""

    passed: bool | None
    score: float | None
    detail: str | None
    status: Status
    reason: str = ""
    message: str = ""
    traceback: str = ""
    in_process: bool = False
    cpu_s: float | None = None
    """Used inside the sandboxes, by the grader and by agent code that it had run."""
    wall_s: float = 0.0
    stdout: bytes = b""
    stderr: bytes = b""
    bounds: list[str] = field(default_factory=list)


def failed(reason: str, detail: str) -> Verdict:
    """A verdict that needs no grader."""
    return Verdict(False, 0.0, detail, "failed", reason)


def broken(reason: str, message: str) -> Verdict:
    """No verdict: the grader, the sandbox or the disk is to blame."""
    return Verdict(None, None, None, status_of(reason), reason, message)


def reason_of(detail: str) -> str:
    """Why a grader rejected an artifact, from the words that the format gives graders."""
    if detail.startswith(NOT_PRODUCED):
        return "missing_artifact"
    return "invalid_format" if detail.startswith(_UNREADABLE) else "wrong_answer"
