"""How a specification travels from the plan to the job: on the command line, or in a file where it is too long for one.

results/cache/specifications/<digest>.json      what did not fit; the command line then says @<path>
"""

import json
import shlex
from pathlib import Path
from typing import Any

from regrade import digests, files

LONGEST = 64_000
"""Characters, quoted for the shell. Linux takes 131,072 bytes in one argument, and a rule's whole command is one."""


def told(spec: Any, results: Path) -> str:
    """The word of the command line that hands a specification (JSON) to a job."""
    text = json.dumps(spec, sort_keys=True)
    if len(shlex.quote(text)) <= LONGEST:
        return text
    path = results / "cache" / "specifications" / f"{digests.of_bytes(text.encode())}.json"
    if not path.exists():
        files.write_text(path, text)
    return f"@{path}"


def read(word: str) -> Any:
    """The specification that a job was handed."""
    return json.loads(Path(word[1:]).read_bytes() if word.startswith("@") else word)
