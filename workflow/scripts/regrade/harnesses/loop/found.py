"""What the readers of calls find in a text."""

from typing import Any, NamedTuple


class Found(NamedTuple):
    """A call between two places of a text. `stands` says that it is no mention in a sentence."""

    tool: str
    args: dict[str, Any]
    start: int
    end: int
    stands: bool = True


class Broken(NamedTuple):
    """A call of a known tool that began at a place and cannot be read to its end."""

    start: int
    why: str


Finding = Found | Broken
