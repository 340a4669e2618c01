"""Parameters of a request: laid over each other, under our words or the server's names, and left out when refused.

A word is a parameter's name in the configuration and in tasks (`max_tokens`, `repetition_penalty`); a place is where a
protocol has it in a body, a dot between levels (`options.num_predict`). Everything else is sent as it is. Where a body
says the same thing under a word and under the server's own name, the word holds.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def merge(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Both, objects key by key; where both have a value, the second one's."""
    merged = dict(low)
    for key, value in high.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            value = merge(below, value)
        merged[key] = value
    return merged


def placed(parameters: Mapping[str, Any], moved: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of a body; `moved` are the words that have another place there. One that is None is not sent."""
    body = {key: value for key, value in parameters.items() if value is not None and key not in moved}
    for word, place in moved.items():
        if parameters.get(word) is not None:
            _put(body, place, parameters[word])
    return body


def _put(body: dict[str, Any], place: str, value: Any) -> None:
    first, _, rest = place.partition(".")
    if not rest:
        body[first] = value
        return
    below = body.get(first)
    body[first] = dict(below) if isinstance(below, Mapping) else {}
    _put(body[first], rest, value)


def is_in(body: Mapping[str, Any], place: str) -> bool:
    """Whether a body has a value at a place."""
    first, _, rest = place.partition(".")
    if not rest:
        return first in body
    below = body.get(first)
    return isinstance(below, Mapping) and is_in(below, rest)


def places(body: Mapping[str, Any], structure: Iterable[str]) -> list[str]:
    """Where a body has what it could do without: all parameters, and what objects among them hold."""
    return list(_places(body, structure))


def _places(body: Mapping[str, Any], structure: Iterable[str]) -> Iterator[str]:
    for key, value in body.items():
        if key not in structure:
            yield key
            if isinstance(value, Mapping):
                yield from (f"{key}.{name}" for name in value)


def dropped(body: Mapping[str, Any], refused: list[str], renamed: Mapping[str, str]) -> list[str]:
    """Which of the refused places this body goes without; `renamed` are those that have a newer name."""
    newer = {renamed[key] for key in body if key in renamed}
    return [place for place in refused if is_in(body, place) or place in newer]


def without(body: dict[str, Any], refused: list[str], renamed: Mapping[str, str]) -> dict[str, Any]:
    """The body less what the server refused; what has a newer name is sent under that."""
    if not refused:
        return body
    left = dict(body)
    for place in refused:
        _remove(left, place)
    for old, new in renamed.items():
        if old in body and old in refused and new not in refused:
            left.setdefault(new, body[old])
    return left


def _remove(body: dict[str, Any], place: str) -> None:
    first, _, rest = place.partition(".")
    below = body.get(first)
    if not rest or not isinstance(below, Mapping):
        body.pop(first, None)
        return
    body[first] = dict(below)
    _remove(body[first], rest)
    if not body[first]:
        del body[first]


def drop_warnings(names: list[str], renamed: Mapping[str, str]) -> list[str]:
    """A warning for each parameter that was left out."""
    return [
        f"parameter {name} was refused by the server and "
        + (f"sent as {renamed[name]}" if name in renamed and renamed[name] not in names else "left out")
        for name in names
    ]
