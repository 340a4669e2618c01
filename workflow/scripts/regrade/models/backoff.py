"""How long to wait before asking again."""

import random
import time
from datetime import UTC
from email.utils import parsedate_to_datetime

from regrade.models.types import ModelConfig, ProviderError


def read_retry_after(value: str | None) -> float | None:
    """Seconds in a Retry-After header, which holds a number or a date; None if absent or unreadable."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = date.timestamp() - time.time()
    # Also false for NaN.
    return seconds if 0 < seconds < float("inf") else 0.0


def wait_before_retry(model: ModelConfig, error: ProviderError, retries: int, waited_s: float) -> float | None:
    """Seconds to wait after an error, or None when it is final.

    `retries` have been made and `waited_s` waited for this answer. Waiting grows with full jitter; a server's
    Retry-After is kept to, unless that would exceed the limit on all waiting.
    """
    if not error.retryable or retries >= model.max_retries:
        return None
    if error.retry_after_s is not None:
        # The jitter keeps clients that were told the same second apart.
        wait = error.retry_after_s + random.uniform(0, model.retry_wait_s)  # noqa: S311 (no secret)
    else:
        wait = random.uniform(0, min(model.retry_wait_max_s, model.retry_wait_s * 2.0 ** min(retries, 30)))  # noqa: S311
    return wait if waited_s + wait <= model.retry_wait_limit_s else None
