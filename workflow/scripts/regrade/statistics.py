"""The statistics that summaries print."""

import math
from fractions import Fraction

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


def quantile(values: list[float], share: float) -> float | None:
    """The value below which a share of the values lies, by linear interpolation between neighbours; None of nothing.

    Source: R. J. Hyndman, Y. Fan, Sample quantiles in statistical packages (1996), type 7.
    """
    if not values:
        return None
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided exact p value of McNemar's test, from the pairs in which just one of two passed; 1 without any.

    Source: Q. McNemar, Psychometrika 12 (1947), by the binomial distribution: 2 * P(X <= min), X ~ B(n, 1/2), at
    most 1.
    """
    n, least = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(n, k) for k in range(least + 1))
    return min(1.0, float(Fraction(2 * tail, 2**n)))


def mean_interval(values: list[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean of independent values, mean -+ 1.96 standard errors; None below two values."""
    if len(values) < 2:
        return None
    centre = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1) / len(values))
    return centre - Z_95 * spread, centre + Z_95 * spread


def pass_at_k(n: int, passed: int, k: int) -> float | None:
    """How likely at least one of k samples passes, estimated from n of which `passed` did; None when n < k.

    Source: M. Chen et al., Evaluating large language models trained on code (2021): 1 - C(n-c, k) / C(n, k).
    """
    every = math.comb(n, k)
    return None if n < k else (every - math.comb(n - passed, k)) / every


def pass_hat_k(n: int, passed: int, k: int) -> float | None:
    """How likely all of k samples pass (pass^k), estimated from n of which `passed` did; None when n < k.

    Source: S. Yao et al., tau-bench (2024): C(c, k) / C(n, k).
    """
    return None if n < k else math.comb(passed, k) / math.comb(n, k)
