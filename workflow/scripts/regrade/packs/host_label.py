"""A short name for a machine."""

import re

_FALLBACK = "host"


def from_hostname(hostname: str) -> str:
    """The part of a host's name before its first dot, in lower case, with `-` for whatever is no letter or digit."""
    return re.sub(r"[^a-z0-9]+", "-", hostname.split(".", 1)[0].lower()).strip("-") or _FALLBACK
