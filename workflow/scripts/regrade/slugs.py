"""Names that people chose, as names of files."""

import re
from collections.abc import Iterable

from regrade import digests

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{kind}{number}" for kind in ("com", "lpt") for number in range(1, 10))}
_LONGEST = 60


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Each name with its slug: itself where it is a safe file name, else what is left of it and a hash.

    No two are the same, also on a disk that does not know upper case from lower.
    """
    folded: dict[str, int] = {}
    names = list(names)
    for name in names:
        folded[name.casefold()] = folded.get(name.casefold(), 0) + 1
    return {name: name if _is_plain(name) and folded[name.casefold()] == 1 else _hashed(name) for name in names}


def _is_plain(name: str) -> bool:
    return bool(_PLAIN.fullmatch(name)) and name.split(".")[0].lower() not in _RESERVED and not name.endswith(".")


def _hashed(name: str) -> str:
    left = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:_LONGEST]
    return f"{left or 'id'}-{digests.of_bytes(name.encode('utf-8', 'surrogatepass'))[:12]}"
