"""How messages show what stands in a manifest."""

import json
from typing import Any


def shown(value: Any) -> str:
    """A value much as it stands in the file, cut to size."""
    return f"{json.dumps(value, ensure_ascii=False, default=str):.200}"
