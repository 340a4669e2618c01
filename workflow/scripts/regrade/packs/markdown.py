"""Markdown for text that somebody else wrote."""

from collections.abc import Iterable, Sequence

NOTHING = "—"


def cell(value: object) -> str:
    """A text on one line that cannot leave its cell or become markup; a dash for nothing."""
    line = " ".join(("" if value is None else str(value)).split())
    line = "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in line)
    for mark in ("\\", "|", "`", "[", "*"):
        line = line.replace(mark, f"\\{mark}")
    return line.replace("<", "&lt;") or NOTHING


def shortened(text: object, most: int = 120) -> str:
    """The beginning of a text on one line."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def code(value: object) -> str:
    """A text as code, on one line; backticks would end it."""
    return f"`{' '.join(str(value).split()).replace('`', chr(39))}`"


def table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; its cells are Markdown already."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(str(item) for item in line)} |" for line in lines)


def number(value: float | None, decimals: int) -> str:
    """A number to some decimals, or a dash."""
    return NOTHING if value is None else f"{value:.{decimals}f}"


def count(value: float | None) -> str:
    """A count as a whole number; a median between two as a half."""
    return NOTHING if value is None else number(value, 0 if value == int(value) else 1)
