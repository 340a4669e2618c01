"""Trying graders before anybody's answer meets them.

bench.py      a task with its inputs made once, on which artifacts are graded
positive.py   the reference must pass with the full score, twice alike
negative.py   wrong artifacts must be rejected; mutations.py are the default ones
leaks.py      a detail must not tell the answer
verifiers.py  a verify.py is declared, and a declared one is there
report.py     all of them over a set, as a page
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What one gate says about one task. `case` is empty but for negative cases; `warnings` change no status."""

    instance_id: str
    status: str
    detail: str = ""
    score: float | None = None
    case: str = ""
    is_bad: bool = False
    warnings: tuple[str, ...] = ()


def shown(text: str, longest: int = 500) -> str:
    """Foreign text on one line: cut, and what does not print escaped."""
    text = text if len(text) <= longest else f"{text[:longest]}..."
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
