"""Values as TOML writes them."""

import json
import re

_LONE = re.compile("[\ud800-\udfff]")


def text(value: str) -> str:
    """A basic string in one line. TOML knows no lone surrogates: they become U+FFFD."""
    quoted = json.dumps(_LONE.sub("\ufffd", value), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007F")


def texts(values: list[str]) -> str:
    """An array of strings in one line."""
    return f"[{', '.join(map(text, values))}]"


def seconds(value: int) -> str:
    """A time as a float: whole seconds, written exactly."""
    return f"{value}.0"
