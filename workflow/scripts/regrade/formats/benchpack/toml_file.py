"""TOML files that people write, with every reason why one cannot be read as a fault."""

from pathlib import Path
from typing import Any

from regrade.errors import Fault, FaultsError

_MARK = "\ufeff"


def load(path: Path) -> dict[str, Any]:
    """Parse a TOML document. Raises FaultsError (with the line) for anything that is not TOML in UTF-8."""
    import tomli

    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise FaultsError([Fault(str(path), "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise FaultsError([Fault(str(path), f"line {line}", "is not UTF-8, expected UTF-8 text")]) from error
    if text.startswith(_MARK):
        found = "starts with a byte order mark, expected plain UTF-8: remove it"
        raise FaultsError([Fault(str(path), "line 1", found)])
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        raise FaultsError([Fault(str(path), f"line {error.lineno}", f"{error.msg} (expected valid TOML)")]) from error
    except (ValueError, RecursionError) as error:
        # A number of thousands of digits and brackets nested without end have no place in tomli's words.
        raise FaultsError([Fault(str(path), "", f"{error!s:.200} (expected valid TOML)")]) from error
