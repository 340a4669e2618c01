"""The statistics that summaries print."""

import math

Z_95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


def wilson(passed: float, n: int) -> tuple[float, float] | None:
    """The 95 % Wilson score interval of a proportion, or None for n = 0.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    (p + z²/2n ± z·sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)
    """
    if n == 0:
        return None
    p, z2 = passed / n, Z_95**2
    centre = p + z2 / (2 * n)
    spread = Z_95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    low, high = (centre - spread) / (1 + z2 / n), (centre + spread) / (1 + z2 / n)
    return (0.0 if passed == 0 else low, 1.0 if passed == n else high)


def mean(values: list[float]) -> float | None:
    """The arithmetic mean, or None of nothing."""
    return math.fsum(values) / len(values) if values else None


def median(values: list[float]) -> float | None:
    """The middle value, the mean of the two middle ones, or None of nothing."""
    if not values:
        return None
    ordered, middle = sorted(values), len(values) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
