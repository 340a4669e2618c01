"""How a trial can end: five statuses, and under each the reasons.

`TABLE` is the one list of them. Summaries count statuses, docs/statuses.md explains reasons, and a test
holds the two together.
"""

from typing import Literal, NamedTuple

Status = Literal["passed", "failed", "error", "not_run", "unscored"]

STATUSES: tuple[Status, ...] = ("passed", "failed", "error", "not_run", "unscored")


class Reason(NamedTuple):
    """Why a trial has its status, and whose doing that is."""

    status: Status
    blame: str
    meaning: str


TABLE: dict[str, Reason] = {
    "wrong_answer": Reason("failed", "model", "graded, and not accepted"),
    "no_response": Reason("failed", "model", "the model answered with nothing"),
    "refusal": Reason("failed", "model", "the model or its provider's filter declined"),
    "truncated": Reason("failed", "model", "the answer hit the token limit"),
    "invalid_format": Reason("failed", "model", "the answer or artifact cannot be read as what was asked for"),
    "missing_artifact": Reason("failed", "model", "no output artifact was produced"),
    "patch_rejected": Reason("failed", "model", "the patch does not apply"),
    "empty_patch": Reason("failed", "model", "the patch changes nothing"),
    "tests_failed": Reason("failed", "model", "tests that must pass do not"),
    "forged_result": Reason("failed", "model", "agent code tried to write its own verdict"),
    "agent_timeout": Reason("failed", "model", "the harness's wall limit ended the trial"),
    "budget_exceeded": Reason("failed", "model", "the task's enforced execution budget ended the trial"),
    "provider_error": Reason("error", "provider", "the model's server gave no usable answer"),
    "grader_error": Reason("error", "grader", "the grader raised, hung, or returned nonsense"),
    "verifier_error": Reason("error", "task", "the verifier broke"),
    "judge_error": Reason("error", "judge", "the judge gave no readable verdict"),
    "sandbox_error": Reason("error", "machine", "the sandbox, or the disk, failed"),
    "inputs_error": Reason("error", "task", "the task's inputs could not be made"),
    "budget": Reason("not_run", "user", "the money set aside was used up"),
    "code_not_allowed": Reason("not_run", "user", "no sandbox here, and running code without one was not allowed"),
    "no_judge": Reason("not_run", "user", "the task needs a judge and none is configured"),
    "gate_failed": Reason("not_run", "task", "the task failed its own gates"),
    "not_applicable": Reason("not_run", "nobody", "this arm makes no sense on this task"),
    "no_scoring": Reason("unscored", "nobody", "answered, and the task declares no scoring"),
}


def status_of(reason: str) -> Status:
    """The status that a reason belongs to."""
    return TABLE[reason].status
