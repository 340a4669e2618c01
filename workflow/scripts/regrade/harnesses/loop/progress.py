"""How far a loop came: seven milestones, apart from the score."""

import json
from dataclasses import dataclass, field
from typing import Any

MILESTONES = (
    *("valid_action", "inspected_workspace", "wrote_file", "ran_visible_tests", "visible_tests_passed"),
    *("final_called", "hidden_tests_passed"),
)
_REASONS = {
    "final": "",
    "invalid_action": "invalid_format",
    "stopped": "invalid_format",
    "max_steps": "agent_timeout",
    "agent_timeout": "agent_timeout",
    "context_full": "truncated",
    "api_error": "provider_error",
}
_LONGEST_FINAL = 4000


@dataclass
class Progress:
    """What has happened so far. `termination` says how it ended.

    final           the model said so
    invalid_action  a turn could not be read, where that ends a loop
    stopped         a tool that there is not was called, where that ends a loop; a reference that does not go on
    max_steps       the last step was taken
    agent_timeout   a limit or budget of the trial was used up
    context_full    the conversation no longer fits the model
    api_error       the model's server gave no answer
    """

    checks: dict[str, bool] = field(default_factory=lambda: dict.fromkeys(MILESTONES, False))
    tools: list[str] = field(default_factory=list)
    ok: list[bool] = field(default_factory=list)
    model_calls: int = 0
    termination: str = ""
    final_response: str = ""

    def note(self, tool: str, ok: bool) -> None:
        """Take in one action that was carried out, or tried."""
        self.tools.append(tool[:80])
        self.ok.append(ok)
        self.checks["valid_action"] = True
        if tool in ("list_files", "read_file"):
            self.checks["inspected_workspace"] |= ok
        elif tool == "write_file":
            self.checks["wrote_file"] |= ok
        elif tool == "run_tests":
            self.checks["ran_visible_tests"] = True
            self.checks["visible_tests_passed"] |= ok

    def finish(self, summary: Any) -> None:
        """Take in a final call."""
        self.note("final", True)
        self.checks["final_called"] = True
        self.termination = "final"
        said = "" if summary is None else summary if isinstance(summary, str) else json.dumps(summary)
        self.final_response = said[:_LONGEST_FINAL]

    @property
    def reason(self) -> str:
        """The reason (statuses.TABLE) for which a loop that ended like this fails; empty for one that ended well."""
        if self.termination == "max_steps" and self.model_calls and not self.checks["valid_action"]:
            return "invalid_format"
        return _REASONS[self.termination]

    def as_value(self) -> dict[str, Any]:
        """The content of `progress` in trial.json."""
        passed = sum(self.checks.values())
        return {
            "checks": dict(self.checks),
            "passed": passed,
            "total": len(self.checks),
            "share": round(passed / len(self.checks), 4),
            "termination": self.termination,
            "tools": list(self.tools),
            "ok": list(self.ok),
            "model_calls": self.model_calls,
            "final_response": self.final_response,
        }
