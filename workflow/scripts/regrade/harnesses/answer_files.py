"""Files named in an answer: the forgiving way in which single-shot reads them.

A fenced block is a file when a name stands with it: in the fence's own line (```` ```output/a.json ```` or
```` ```json output/a.json ````), or as the last thing in the line before the fence (`File: output/a.json`,
`**output/a.json**`, `1. output/a.json:`). Without any name the last block is the artifact, and without any block the
whole answer is.
"""

import re
from typing import NamedTuple

from regrade.harnesses import fences

_PATH = re.compile(r"(?:/workspace/|\./)?(?P<path>(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z0-9]{1,10})")
_DECORATION = " \t*_`'\":#()[]<>"


class AnswerFiles(NamedTuple):
    """Names to contents, and what had to be guessed."""

    files: dict[str, str]
    warnings: list[str]


def parse(answer: str, output_artifact: str) -> AnswerFiles:
    """The files that an answer names; the artifact may go by its base name or by none."""
    blocks = fences.blocks(answer)
    if not blocks:
        text = fences.without_stray_fence(answer).strip()
        return AnswerFiles({output_artifact: f"{text}\n"} if text else {}, [])
    files: dict[str, str] = {}
    unnamed = []
    for block in blocks:
        name = _name(block.info.split(" ")[-1]) or _name_in_line(block.before)
        if name:
            files[name] = block.content
        else:
            unnamed.append(block.content)
    base = output_artifact.rsplit("/", 1)[-1]
    if output_artifact not in files and base in files:
        files[output_artifact] = files.pop(base)
    warnings = []
    if output_artifact not in files and unnamed:
        files[output_artifact] = unnamed[-1]
        if len(unnamed) > 1:
            warnings.append(f"{len(unnamed)} fenced blocks without a name: the last was taken as {output_artifact}")
    return AnswerFiles(files, warnings)


def _name_in_line(line: str) -> str:
    words = line.strip().rstrip(_DECORATION).split()
    return _name(words[-1]) if words else ""


def _name(word: str) -> str:
    found = _PATH.fullmatch(word.strip(_DECORATION).removeprefix("path=").removeprefix("title=").strip(_DECORATION))
    return found["path"] if found and ".." not in found["path"].split("/") else ""
