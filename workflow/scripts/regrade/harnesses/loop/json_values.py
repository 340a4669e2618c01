"""Reading JSON that models write: raw line breaks in texts are fine, numbers that no float can hold stay texts."""

import json
import math
from typing import Any


def _number(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


DECODER = json.JSONDecoder(strict=False, parse_float=_number, parse_constant=str)


def read_at(text: str, position: int) -> tuple[Any, int]:
    """The value that begins at a place, and where it ends. Raises ValueError, also for what is nested too deep."""
    try:
        return DECODER.raw_decode(text, position)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def as_object(value: Any) -> dict[str, Any] | None:
    """An object as it is, or out of its JSON text; an empty text and null are an empty object."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}
    if isinstance(value, str):
        text = value.strip()
        try:
            value, end = read_at(text, 0)
        except ValueError:
            return None
        if end != len(text):
            return None
    return value if isinstance(value, dict) else None
