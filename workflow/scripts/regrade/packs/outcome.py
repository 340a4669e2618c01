"""How one repetition of a pack's case went, in the fields of a trial's outcome."""

from typing import Any

from regrade.record import NOTHING


def outcome(measured: dict[str, Any] | None, session: dict[str, Any] | None, asked: bool) -> dict[str, Any]:
    """From the measured row and, if a workspace was worked on, its trial.json. Without a row nothing was done."""
    if measured is None:
        return NOTHING
    acted = session or {}
    return {
        "timing": measured["timing"],
        "tokens": {**measured["tokens"], "reasoning": None},
        "turns": int(asked),
        "cached": False,
        "limits": acted.get("limits") or NOTHING["limits"],
        "finish_reason": measured["finish_reason"],
        "warnings": list(dict.fromkeys([*measured["warnings"], *acted.get("warnings", [])])),
    }
