"""A suite's file as it was written: values as YAML means them, the words they were written in, and their lines."""

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import yaml

from regrade.errors import Fault, FaultsError

try:
    from yaml import CSafeLoader as _Loader
except ImportError:
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

_PLAIN_NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*|(?:\d+\.\d*|\.\d+)(?:[eE][-+]\d+)?)")
_TRUTH = ("true", "false", "True", "False", "TRUE", "FALSE")
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Odd:
    """A value that is not what was written: where (path and line), the words, and what YAML makes of them."""

    path: Path
    line: int
    words: str
    value: Any


class Document:
    """One parsed file. `value` is plain JSON (dates are texts); nodes stay at hand for lines and words."""

    def __init__(self, file: FilePath, content: bytes) -> None:
        self._file = str(file)
        self.root = self._compose(content)
        self.value = self._value(self.root) if self.root else None

    def _compose(self, content: bytes) -> Any:
        try:
            text = content.decode("utf-8-sig")
            self._loader = _Loader(text)
            return self._loader.get_single_node()
        except UnicodeDecodeError as error:
            found = f"byte {content[error.start]:#04x} at offset {error.start} is not UTF-8, expected UTF-8 text"
            raise FaultsError([Fault(self._file, "", found)]) from error
        except yaml.YAMLError as error:
            raise self._fault(error) from error

    def _fault(self, error: yaml.YAMLError) -> FaultsError:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        if "'\\t'" in problem:
            problem = "a tab stands where YAML allows only blanks: indent with blanks"
        place = f"line {mark.line + 1}" if mark else ""
        return FaultsError([Fault(self._file, place, f"{problem} (expected valid YAML)")])

    def _value(self, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item) for item in node.value]
        try:
            value = self._loader.construct_object(node)
        except yaml.YAMLError as error:
            raise self._fault(error) from error
        except (ValueError, AttributeError) as error:
            line = f"line {node.start_mark.line + 1}"
            raise FaultsError([Fault(self._file, line, f"{error} (expected valid YAML: quote the value)")]) from error
        return value.isoformat() if isinstance(value, datetime.date) else value

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        merged = any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value)
        if merged:
            self._loader.flatten_mapping(node)
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None:
                raise FaultsError([Fault(self._file, _line(key_node), "a key is no word, expected a text")])
            if key in found and not merged:
                raise FaultsError(
                    [Fault(self._file, _line(key_node), f"duplicate key {key!r}, expected each key once")]
                )
            found[key] = self._value(value_node)
        return found

    def node(self, path: Path) -> Any:
        """The node at a path, or the deepest one on the way there."""
        node = self.root
        for part in path:
            inner = None
            if isinstance(node, yaml.MappingNode):
                inner = next((value for key, value in reversed(node.value) if key.value == part), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
                inner = node.value[part]
            if inner is None:
                break
            node = inner
        return node

    def line(self, path: Path) -> int:
        """The line of what stands at a path, counted from 1."""
        return int(self.node(path).start_mark.line) + 1

    def words(self, path: Path) -> str:
        """A scalar as it was written."""
        return str(self.node(path).value)

    def odd(self, path: Path) -> Iterator[Odd]:
        """Every unquoted value below a path that YAML makes something else of: `no`, `012`, `1:30`, `1_000`, a date."""
        yield from self._odd(self.node(path), path)

    def _odd(self, node: Any, path: Path) -> Iterator[Odd]:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                yield from self._odd(value, (*path, key.value))
        elif isinstance(node, yaml.SequenceNode):
            for place, item in enumerate(node.value):
                yield from self._odd(item, (*path, place))
        elif _is_odd(node):
            yield Odd(path, node.start_mark.line + 1, node.value, self._value(node))


def _line(node: Any) -> str:
    return f"line {node.start_mark.line + 1}"


def _is_odd(node: yaml.ScalarNode) -> bool:
    kind = node.tag.rsplit(":", 1)[-1]
    if kind == "bool":
        return node.value not in _TRUTH
    if kind in ("int", "float"):
        return not _PLAIN_NUMBER.fullmatch(node.value) and node.value.lstrip("+-").lower() not in (".inf", ".nan")
    return kind == "timestamp"
