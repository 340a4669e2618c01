"""What a call cost: US dollars per million tokens, and never a guess of 0."""

from collections.abc import Mapping
from typing import Any

from regrade.models.types import Usage, is_amount

KINDS = ("input", "cached_input", "output")


def faults(prices: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """What is wrong in an entry's `prices`, as (".field", message); free of charge is 0.0, unknown is no entry."""
    if prices is None:
        return []
    found = [(f".{key}", f"unknown key, expected one of: {', '.join(KINDS)}") for key in prices if key not in KINDS]
    for kind in KINDS:
        if kind not in prices and kind == "cached_input":
            continue
        if kind not in prices:
            found.append((f".{kind}", "is missing, expected dollars per million tokens: leave prices out if unknown"))
        elif not is_amount(prices[kind]):
            found.append((f".{kind}", f"{prices[kind]!r}, expected a finite number of at least 0"))
    return found


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
