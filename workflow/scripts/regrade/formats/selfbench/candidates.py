"""Names in code that may be a contract between tests and an implementation, found by their shapes."""

import re
from typing import NamedTuple

from regrade.formats.selfbench import diffs

CATEGORIES = ("endpoint_path", "field_name", "header_name", "media_type")

_WORD = re.compile(r"[\w$-]+", re.ASCII)
_NAME = r"[A-Za-z_$][\w$]{2,}"
_MEDIA = r"(?:application|audio|font|image|message|model|multipart|text|video)/[A-Za-z0-9][\w.+-]*"
_ASKING = "(?:getattr|hasattr|toHaveProperty|hasOwnProperty|hasOwn)"

_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    # A path in quotes, also behind a method or a host.
    ("endpoint_path", re.compile(r"[\"'`](?:[A-Z]{3,7} )?(?:https?://[^/\s\"'`]+)?(/[A-Za-z][\w./:{}$~-]*)", re.ASCII)),
    # A member, a subscript, a key, a name that is looked for.
    ("field_name", re.compile(rf"(?<=[\w$)\]])\??\.({_NAME})", re.ASCII)),
    ("field_name", re.compile(rf"\[\s*[\"'`]({_NAME})[\"'`]\s*\]", re.ASCII)),
    ("field_name", re.compile(rf"[\"']({_NAME})[\"']\s*:", re.ASCII)),
    ("field_name", re.compile(rf"[\"']({_NAME})[\"']\s+(?:not\s+)?in\b", re.ASCII)),
    ("field_name", re.compile(rf"\b{_ASKING}\([^\"'`]{{0,100}}[\"'`]({_NAME})[\"'`]", re.ASCII)),
    ("field_name", re.compile(rf"[{{,]\s*({_NAME})\s*:", re.ASCII)),
    (
        "header_name",
        re.compile(r"[\"'`]([A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+|[Xx](?:-[A-Za-z0-9]+)+)[\"'`:]", re.ASCII),
    ),
    ("media_type", re.compile(rf"(?<![\w./-])({_MEDIA})", re.ASCII)),
)


class Candidate(NamedTuple):
    """One name, what kind of name it is, and where the hidden tests have it."""

    artifact: str
    category: str
    locations: tuple[str, ...]


class AddedLine(NamedTuple):
    """A line that a patch adds to a file; `number` counts the lines of the patch from 1."""

    path: str
    number: int
    text: str


def added_lines(patch: bytes) -> list[AddedLine]:
    """The lines that a patch adds, headers left out."""
    found: list[AddedLine] = []
    end = patch.find(diffs.START)
    number = patch[: max(end, 0)].count(b"\n") + 1
    for section in diffs.sections(patch):
        for offset, line in diffs.added(section):
            found.append(AddedLine(section.path, number + offset, line.decode("utf-8", "replace")))
        number += section.raw.count(b"\n")
    return found


def candidates(test_patch: bytes) -> list[Candidate]:
    """The names on added lines of a patch, by category, then in the order in which they stand there."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for line in added_lines(test_patch):
        place = f"{line.path}:patch-line-{line.number}"
        for category, shape in _SHAPES:
            for artifact in shape.findall(line.text):
                found.setdefault((category, artifact), {})[place] = None
    known = [Candidate(artifact, category, tuple(places)) for (category, artifact), places in found.items()]
    return sorted(known, key=lambda candidate: CATEGORIES.index(candidate.category))


class Names:
    """A text that is asked for names as wholes: `foo` does not stand in `foobar`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = set(_WORD.findall(text))

    def __contains__(self, artifact: str) -> bool:
        if _WORD.fullmatch(artifact):
            return artifact in self._words
        whole = rf"(?<![\w$-]){re.escape(artifact)}(?![\w$-])"
        return artifact in self._text and re.search(whole, self._text, re.ASCII) is not None
