"""A suite's file as it was written: values as YAML means them, the words they were written in, and their lines."""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, NoReturn

import yaml

from regrade.errors import Fault, FaultsError
from regrade.formats.suite.wording import shown

try:
    from yaml import CSafeLoader as _Loader
except ImportError:
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

_PLAIN_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*|(?:\d+\.\d*|\.\d+)(?:[eE][-+]\d+)?)")
_TRUTH = ("true", "false", "True", "False", "TRUE", "FALSE")
_TAG = "tag:yaml.org,2002:"
_DEEPEST = 60
"""Lists and mappings inside each other; an alias that holds itself goes on for ever."""

_VALUES, _VALUES_A_BYTE = 500_000, 5
"""How many values aliases may make of a file, at least and by its size."""

_LONGEST, _MOST_BITS = 4_000, 13_000
"""Signs of a value and bits of a whole number: Python reads and writes none of more than 4,300 digits."""

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Odd:
    """A value that is not what was written: where (path and line), the words, and what YAML makes of them."""

    path: Path
    line: int
    words: str
    value: Any


class Document:
    """One parsed file. Values are plain JSON (dates are texts); nodes stay at hand for lines and words.

    Values are made one by one, so that what is wrong with one says nothing of the others.
    """

    def __init__(self, file: FilePath, content: bytes) -> None:
        """Raises FaultsError for what is no YAML at all."""
        self._file = str(file)
        self._left = _VALUES + _VALUES_A_BYTE * len(content)
        self._entries: dict[int, dict[str, Any]] = {}
        self.root = self._compose(content)

    def _compose(self, content: bytes) -> Any:
        try:
            text = content.decode("utf-8-sig")
            self._loader = _Loader(text)
            return self._loader.get_single_node()
        except UnicodeDecodeError as error:
            self._refuse(
                content.count(b"\n", 0, error.start) + 1,
                f"byte {content[error.start]:#04x} at offset {error.start} is not UTF-8, expected UTF-8 text",
            )
        except yaml.reader.ReaderError as error:
            before = text.encode()[: error.position]
            self._refuse(before.count(b"\n") + 1, f"holds the control character {error.character:#04x}: take it out")
        except yaml.YAMLError as error:
            self._refuse(*_problem(error))
        except RecursionError:
            self._refuse(None, f"lists and mappings stand too deep in each other, expected at most {_DEEPEST}")

    def _refuse(self, line: int | None, message: str) -> NoReturn:
        raise FaultsError([Fault(self._file, f"line {line}" if line else "", message)])

    def fault(self, path: Path, message: str) -> FaultsError:
        """What to raise for a value that is none of what it should be."""
        return FaultsError([Fault(self._file, f"line {self.line(path)}", message)])

    def value(self, path: Path = ()) -> Any:
        """The value at a path, None for an empty file. Raises FaultsError, with the line, where YAML has none."""
        return self._value(self.node(path), 0) if self.root else None

    def _value(self, node: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            self._refuse(_line(node), "aliases (*name) make too much of this file, expected them written out")
        if depth > _DEEPEST:
            said = f"stands more than {_DEEPEST} lists and mappings deep, expected fewer (an alias may hold itself)"
            self._refuse(_line(node), said)
        if isinstance(node, yaml.MappingNode):
            return {key: self._value(inner, depth + 1) for key, inner in self._entries_of(node).items()}
        if isinstance(node, yaml.SequenceNode):
            self._require_tag(node, "seq")
            return [self._value(item, depth + 1) for item in node.value]
        return self._scalar(node)

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        try:
            value = self._loader.construct_object(node)
            if isinstance(value, int) and value.bit_length() > _MOST_BITS:
                raise ValueError("it has too many digits")
        except yaml.YAMLError as error:
            line, problem = _problem(error)
            self._refuse(line or _line(node), problem)
        except (ValueError, AttributeError) as error:
            what = "it has too many digits" if len(node.value) > _LONGEST else error
            self._refuse(_line(node), f"{shown(node.value)} is no value: {what} (quote it to mean the text)")
        if isinstance(value, bytes):
            self._refuse(_line(node), "is binary data, expected a text")
        return value.isoformat() if isinstance(value, datetime.date) else value

    def _entries_of(self, node: yaml.MappingNode) -> dict[str, Any]:
        """The nodes in a mapping by key. Own keys win over merged ones (`<<`), of these the first."""
        if id(node) in self._entries:
            return self._entries[id(node)]
        self._entries[id(node)] = {}  # What a mapping that merges itself gets.
        try:
            self._require_tag(node, "map")
            found = self._entries[id(node)] = {**self._merged(node), **self._own(node)}
        except FaultsError:
            del self._entries[id(node)]
            raise
        return found

    def _require_tag(self, node: Any, tag: str) -> None:
        if node.tag != f"{_TAG}{tag}":
            self._refuse(_line(node), f"has the tag {node.tag}, expected a plain list or mapping")

    def _own(self, node: yaml.MappingNode) -> dict[str, Any]:
        own: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == f"{_TAG}merge":
                continue
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(_line(key), "a key is a list or a mapping, expected a text")
            if key.value in own:
                self._refuse(_line(key), f"duplicate key {key.value!r}, expected each key once")
            own[key.value] = value
        return own

    def _merged(self, node: yaml.MappingNode) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag != f"{_TAG}merge":
                continue
            for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(source, yaml.MappingNode):
                    self._refuse(_line(key), "<< merges what is no mapping, expected *name of one")
                merged = {**self._entries_of(source), **merged}
        return merged

    def node(self, path: Path) -> Any:
        """The node at a path, or the deepest one on the way there. Raises FaultsError like `value`."""
        node = self.root
        for part in path:
            inner = None
            if isinstance(node, yaml.MappingNode) and isinstance(part, str):
                inner = self._entries_of(node).get(part)
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                inner = node.value[part]
            if inner is None:
                break
            node = inner
        return node

    def line(self, path: Path) -> int:
        """The line of what stands at a path, counted from 1."""
        return _line(self.node(path))

    def words(self, path: Path) -> str:
        """A scalar as it was written."""
        return str(self.node(path).value)

    def odd(self, path: Path) -> Iterator[Odd]:
        """Every unquoted value below a path that YAML makes something else of: `no`, `012`, `1:30`, `1_000`, a date."""
        yield from self._odd(self.node(path), path)

    def _odd(self, node: Any, path: Path) -> Iterator[Odd]:
        if isinstance(node, yaml.MappingNode):
            for key, value in self._entries_of(node).items():
                yield from self._odd(value, (*path, key))
        elif isinstance(node, yaml.SequenceNode):
            for place, item in enumerate(node.value):
                yield from self._odd(item, (*path, place))
        elif _is_odd(node):
            yield Odd(path, _line(node), node.value, self._scalar(node))


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def _problem(error: yaml.YAMLError) -> tuple[int | None, str]:
    """The line of an error of YAML, where it has one, and what it says, in words that help."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if "tab character" in problem or "'\\t'" in problem:
        problem = "a tab stands where YAML allows only blanks: indent with blanks"
    elif "another document" in problem:
        problem = "a second document (---) begins here, expected one: take the line out, or make two files"
    return (mark.line + 1 if mark else None), f"{problem} (expected valid YAML)"


def _is_odd(node: yaml.ScalarNode) -> bool:
    kind = node.tag.rsplit(":", 1)[-1]
    if kind == "bool":
        return node.value not in _TRUTH
    if kind in ("int", "float"):
        return not _PLAIN_NUMBER.fullmatch(node.value) and node.value.lstrip("+-").lower() not in (".inf", ".nan")
    return kind == "timestamp"
