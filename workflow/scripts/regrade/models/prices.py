"""What a call cost: US dollars per million tokens, and never a guess of 0."""

from collections.abc import Mapping

from regrade.models.types import Usage


def cost_usd(prices: Mapping[str, float] | None, usage: Usage) -> float | None:
    """Dollars for one call, or None when the price or a token count is unknown.

    Cached tokens are part of the prompt's and reasoning tokens part of the output's, so each is paid once. Without
    a price of their own cached tokens cost what others do.
    """
    if prices is None or usage.prompt is None or usage.output is None:
        return None
    cached = min(usage.cached_prompt or 0, usage.prompt)
    fresh = (usage.prompt - cached) * prices["input"]
    return (fresh + cached * prices.get("cached_input", prices["input"]) + usage.output * prices["output"]) / 1e6


def can_cost(prices: Mapping[str, float] | None) -> bool:
    """Whether a call has a known price that is not nothing."""
    return prices is not None and any(prices.values())
