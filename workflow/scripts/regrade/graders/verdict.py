"""How a grader's words become a reason."""

NOT_PRODUCED = "output artifact not produced"
_UNREADABLE = ("output artifact failed to parse", "output artifact is empty")


def reason_of(detail: str) -> str:
    """Why a grader rejected an artifact, from the words that the format gives graders."""
    if detail.startswith(NOT_PRODUCED):
        return "missing_artifact"
    return "invalid_format" if detail.startswith(_UNREADABLE) else "wrong_answer"
