"""The fenced block of a model's answer that holds its patch."""

import re

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_OPENINGS = ("```diff", "```patch")


def first_block(text: str) -> str | None:
    """The body of the first closed block whose opening line is just ```diff or ```patch, or None.

    Blocks of other kinds are passed over whole. Fences stand in column 1; line ends may be LF or CRLF and are kept.
    """
    wanted = False
    body: list[str] | None = None
    for line in _LINE.findall(text):
        if body is None:
            if line.startswith("```"):
                wanted, body = line.removesuffix("\n").removesuffix("\r") in _OPENINGS, []
        elif line.startswith("```") and not line[3:].strip(" \t\r\n"):
            if wanted:
                return "".join(body)
            body = None
        else:
            body.append(line)
    return None
