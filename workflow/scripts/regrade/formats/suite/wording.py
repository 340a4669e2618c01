"""What breaks a task's schema, in words."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from regrade.nearest import nearest

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

NO_VALUE = "has none of"
_KINDS = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}
_BOUNDS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than"}
_WORDS = {
    "minLength": "a text that is not empty",
    "minItems": "a list that is not empty",
    "pattern": "a text without blanks and control characters",
    "contains": "pytest among its words",
    "oneOf": "a text, or a list of texts",
}
"""What the keywords of these schemas ask for, where each has one use."""


class Said(NamedTuple):
    """One thing wrong: the key that it is about, empty for the place itself, and what is wrong."""

    key: str
    message: str


def in_words(error: "ValidationError") -> Iterator[Said]:
    """What one error of a schema says, with what was expected."""
    keyword, wanted, value = str(error.validator), cast(Any, error.validator_value), error.instance
    schema: dict[str, Any] = dict(error.schema) if isinstance(error.schema, dict) else {}
    if keyword == "additionalProperties" and isinstance(value, dict):
        known = schema["properties"]
        for key in value:
            if key not in known:
                hint = nearest(str(key), known) or f", expected one of {', '.join(sorted(known))}"
                yield Said(str(key), f"unknown key{hint}")
    elif keyword == "required" and isinstance(value, dict):
        missing = [key for key in wanted if key not in value]
        yield Said("", f"has no {', '.join(missing)}, expected all of {', '.join(wanted)}")
    elif keyword == "anyOf" and isinstance(value, dict):
        keys = ", ".join(" and ".join(choice["required"]) for choice in wanted)
        yield Said("", f"{NO_VALUE} {keys}, expected one: there is nothing to hold an answer against")
    elif keyword == "enum":
        choices = [choice for choice in wanted if choice]
        hint = nearest(str(value).lower(), choices) or f", expected one of {', '.join(map(str, choices))}"
        yield Said("", f"is {shown(value)}{hint}")
    else:
        kind = schema.get("type", [])
        kinds = [kind] if isinstance(kind, str) else kind
        yield Said("", f"is {shown(value)}, expected {_expected(keyword, wanted, kinds, value)}")


def _expected(keyword: str, wanted: Any, kinds: list[str], value: Any) -> str:
    if keyword == "type":
        return " or ".join(_KINDS[kind] for kind in kinds if kind != "null") + _hint(kinds, value)
    if keyword == "pattern" and "number" in kinds:
        return "a number"
    if keyword in _BOUNDS:
        return f"{_BOUNDS[keyword]} {wanted}"
    return _WORDS.get(keyword, f"{keyword} {wanted!r:.80}")


def _hint(kinds: list[str], value: Any) -> str:
    """What to do where a value was written as another kind than was meant."""
    if "string" in kinds and isinstance(value, bool | int | float):
        return ": quote it to mean the text"
    if {"number", "integer"} & set(kinds) and isinstance(value, str) and is_number(value):
        return ": write it without quotes, and with a power as 1.0e-3" if "number" in kinds else ": write it plainly"
    return ""


def is_number(text: str) -> bool:
    """Whether a text reads like a number to people, though not to YAML."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def shown(value: Any, most: int = 60) -> str:
    """A value in a bounded line, as YAML and JSON write it; nothing is null."""
    if isinstance(value, str):
        return repr(value if len(value) <= most else f"{value[:most]}...")
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else f"{text[:most]}..."
