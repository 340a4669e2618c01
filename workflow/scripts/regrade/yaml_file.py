"""YAML files that people write: what plain PyYAML lets pass is a fault here."""

from pathlib import Path
from typing import Any

import yaml

from regrade.errors import Fault, FaultsError

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]


class _StrictLoader(_SafeLoader):
    """Refuses a key that stands twice in one mapping."""


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise yaml.constructor.ConstructorError(
                None, None, f"key {key!r} is a {type(key).__name__}, expected a string: quote it", key_node.start_mark
            )
        if key in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"duplicate key {key!r}, expected each key once", key_node.start_mark
            )
        seen.add(key)
    return loader.construct_mapping(node, deep=True)


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load(path: Path) -> Any:
    """Parse one YAML document. Raises FaultsError (with the line) for anything that is not clean YAML in UTF-8."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FaultsError([Fault(str(path), "", f"cannot be read: {error.strerror}")]) from error
    if content.startswith(b"\xef\xbb\xbf"):
        found = "starts with a byte order mark, expected plain UTF-8: remove it"
        raise FaultsError([Fault(str(path), "line 1", found)])
    try:
        return yaml.load(content.decode("utf-8"), Loader=_StrictLoader)  # noqa: S506 (a safe loader)
    except UnicodeDecodeError as error:
        found = f"byte {content[error.start]:#04x} at offset {error.start} is not UTF-8, expected UTF-8 text"
        raise FaultsError([Fault(str(path), "", found)]) from error
    except yaml.YAMLError as error:
        raise FaultsError([_fault(path, error)]) from error
    except (ValueError, AttributeError) as error:
        # PyYAML's own constructors raise these for a tag or a date that its value does not fit, without a place.
        raise FaultsError([Fault(str(path), "", f"{error} (expected valid YAML: quote the value)")]) from error


def _fault(path: Path, error: yaml.YAMLError) -> Fault:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if "'\\t'" in problem:
        problem = "a tab stands where YAML allows only blanks: indent with blanks"
    return Fault(str(path), f"line {mark.line + 1}" if mark else "", f"{problem} (expected valid YAML)")
