"""What a trial's answers took, added up: turns, tokens, seconds."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regrade.models.types import ChatResponse

_TOKENS = ("prompt", "output", "cached_prompt", "reasoning")


def totals(responses: "Sequence[ChatResponse]", wall_s: float) -> dict[str, Any]:
    """The fields `turns`, `tokens`, `timing`, `cached`, `finish_reason` and `served_model` of a trial.

    A count that one answer lacks is unknown (None) in the sum. Speeds are tokens per second and are given for
    trials of one answer only, where they mean something: prefill = prompt / ttft, decode = output / (wall - ttft).
    """
    tokens = {name: _total([getattr(response.usage, name) for response in responses]) for name in _TOKENS}
    last = responses[-1] if responses else None
    return {
        "turns": len(responses),
        "tokens": tokens,
        "timing": {"wall_s": round(wall_s, 4), **_speeds(responses, tokens)},
        "cached": bool(responses) and all(response.cached for response in responses),
        "finish_reason": last.finish_reason if last else None,
        "served_model": last.served_model if last else None,
    }


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _speeds(responses: "Sequence[ChatResponse]", tokens: dict[str, int | None]) -> dict[str, float | None]:
    if len(responses) != 1:
        return {"ttft_s": None, "prefill_tps": None, "decode_tps": None, "total_tps": None}
    wall, ttft = responses[0].timing.wall_s, responses[0].timing.ttft_s
    return {
        "ttft_s": ttft,
        "prefill_tps": _rate(tokens["prompt"], ttft),
        "decode_tps": _rate(tokens["output"], None if ttft is None else wall - ttft),
        "total_tps": _rate(tokens["output"], wall),
    }


def _rate(count: int | None, seconds: float | None) -> float | None:
    return round(count / seconds, 4) if count and seconds and seconds > 0 else None
