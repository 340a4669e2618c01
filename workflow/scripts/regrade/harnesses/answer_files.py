"""Files named in an answer: the forgiving way in which single-shot reads them.

A fenced block is a file when a name stands with it:

- in the fence's own line: ```` ```output/a.json ````, ```` ```json output/a.json ````, ```` ```json title="a.json" ````
- in the line above it, alone or behind a label: `output/a.json`, `**output/a.json**:`, `1. File: output/a.json`; the
  artifact's name counts there also at the end of a sentence
- in the first line inside, if that is the artifact's path and nothing else (a comment sign may stand before it);
  this line is then no part of the file.

`/workspace/` and `./` before a name are dropped. The artifact may go by its base name. Without a name, the last block
in the artifact's language is the artifact, else the last block; without any block the whole answer is. Names of other
files need an extension.
"""

import re
from typing import NamedTuple

from regrade.harnesses import fences

_PATH = re.compile(r"/?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9}")
_DECORATION = " \t*`'\":#()[]{}<>,;"
_LABELS = {"", "add", "create", "file", "filename", "name", "new", "path", "save", "to", "update", "write"}
_COMMENT = re.compile(r"^\s*(?:#+|//+|--+|/\*+|<!--|;+|%+)?\s*(.*?)\s*(?:\*+/|-->)?\s*$")
_TAGS = {"py": "python", "md": "markdown", "txt": "text", "yml": "yaml", "jsonl": "json", "sh": "bash"}


class AnswerFiles(NamedTuple):
    """Names, as they were said, to contents; and what had to be guessed."""

    files: dict[str, str]
    warnings: list[str]


def parse(answer: str, output_artifact: str) -> AnswerFiles:
    """The files that an answer names. Names may lead out of the workspace: whoever writes them must look."""
    found = AnswerFiles({}, [])
    unnamed: list[fences.Block] = []
    blocks = fences.blocks(answer)
    if not blocks or _is_closing(blocks, answer, output_artifact):
        lines = fences.lines_of(answer)[: blocks[0].line if blocks else None]
        text, _ = _without_own_name("\n".join(fences.without_bare_fences(lines)), output_artifact)
        if text.strip():
            found.files[output_artifact] = _without_blank_ends(text)
        return found
    for block in blocks:
        name, content = _named(block, output_artifact)
        if not name:
            unnamed.append(block)
        elif name in found.files:
            found.warnings.append(f"answer: {name} stands there more than once: the last was taken")
        if name:
            found.files[name] = content
    _find_artifact(found, unnamed, output_artifact)
    return found


def _find_artifact(found: AnswerFiles, unnamed: list[fences.Block], artifact: str) -> None:
    """Give the artifact's name to what goes by its base name, or to a block that has none."""
    base = artifact.rsplit("/", 1)[-1]
    if artifact in found.files:
        return
    if base in found.files:
        found.files[artifact] = found.files.pop(base)
    elif unnamed:
        found.files[artifact] = _likeliest(unnamed, artifact).content
        if len(unnamed) > 1:
            found.warnings.append(f"answer: {len(unnamed)} blocks without a name: one was taken as {artifact}")
    else:
        found.warnings.append(f"answer: names {', '.join(found.files)}, and no block is {artifact}")


def _likeliest(unnamed: list[fences.Block], artifact: str) -> fences.Block:
    extension = artifact.rsplit(".", 1)[-1].lower()
    fitting = {extension, _TAGS.get(extension, extension)}
    return next((block for block in reversed(unnamed) if block.info.lower() in fitting), unnamed[-1])


def _is_closing(blocks: list[fences.Block], answer: str, artifact: str) -> bool:
    """Whether the only fence, bare and never closed, ends the file above it rather than beginning one."""
    block = blocks[0]
    if len(blocks) > 1 or block.closed or block.info or block.line == 0:
        return False
    above = fences.lines_of(answer)[block.line - 1].strip()
    return bool(above) and not above.endswith(":") and not _name_above(above, artifact)


def _named(block: fences.Block, artifact: str) -> tuple[str, str]:
    """A block's name ("" for none) and the content of its file."""
    for word in (block.info, *block.info.split()):
        if name := _name(word, artifact):
            return name, block.content
    if name := _name_above(block.before, artifact):
        return name, block.content
    content, is_artifact = _without_own_name(block.content, artifact)
    return (artifact if is_artifact else ""), content


def _name_above(line: str, artifact: str) -> str:
    """The name that ends a line, if the line says no more than that; the artifact's ends any line."""
    words = [word for word in line.split() if word.strip(_DECORATION)]
    name = _name(words[-1], artifact) if words else ""
    labels = (re.sub(r"[\W\d_]+", "", word).lower() for word in words[:-1])
    return name if name in _names_of(artifact) or all(label in _LABELS for label in labels) else ""


def _name(word: str, artifact: str) -> str:
    """A word as a file name, "" if it is none."""
    word = re.sub(r"^\w+(?:=|:(?!//))", "", word.strip(_DECORATION)).strip(_DECORATION).rstrip(".")
    word = re.sub(r"^(?:/workspace/|(?:\./)+)", "", word)
    return word if word in _names_of(artifact) or _PATH.fullmatch(word) else ""


def _names_of(artifact: str) -> tuple[str, str]:
    return artifact, artifact.rsplit("/", 1)[-1]


def _without_own_name(text: str, artifact: str) -> tuple[str, bool]:
    """The text less a first line that is only the artifact's path, and whether it had one."""
    first, _, rest = text.partition("\n")
    said = _COMMENT.sub(r"\1", first).strip(_DECORATION)
    is_name = re.sub(r"^(?:file(?:name)?: *)?(?:/workspace/|\./)?", "", said, flags=re.IGNORECASE) == artifact
    return (rest, True) if is_name else (text, False)


def _without_blank_ends(text: str) -> str:
    lines = text.split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines) + "\n"
