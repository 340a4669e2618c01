"""A small benchpack, whole and sound, for tests to break; and packs from vectors."""

import base64
import json
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parent / "vectors" / "benchpack"

MANIFEST = """\
[pack]
id = "{pack}"
version = "1"

[defaults]
max_tokens = 5

[[fixtures]]
id = "r"
kind = "repo"
path = "repo"

[[fixtures]]
id = "note"
kind = "context"
path = "note.md"

[[cases]]
id = "ask"
prompt = "Say yes."
scoring = {{ mode = "contains", expected = "yes" }}

[[cases]]
id = "mend"
kind = "repo-task"
prompt_file = "mend.md"
fixture_refs = ["r", "note"]
harness = {{ id = "fenced-patch", timeout_s = 5 }}
scoring = {{ mode = "verify-script", script = "verify/mend.py", timeout_s = 2, environment = {{ A = "x" }} }}
"""

FILES = {
    "repo/a.txt": "a\n",
    "note.md": "A note.\n",
    "mend.md": "Mend it.\n",
    "verify/mend.py": "raise SystemExit(0)\n",
    "oracle/ask.md": "yes\n",
    "oracle/mend.diff": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n",
}


def write_inline(folder: Path, files: dict[str, Any]) -> None:
    """Write files as vectors give them: text, {b64}, {symlink} or {dir}."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_bytes(content.encode())
        elif "b64" in content:
            path.write_bytes(base64.b64decode(content["b64"]))
        elif "symlink" in content:
            path.symlink_to(content["symlink"])
        else:
            path.mkdir()


def make_pack(packs_dir: Path, pack: str = "demo", files: dict[str, Any] | None = None) -> Path:
    """Write a sound pack and return its folder; `files` are added or replaced."""
    folder = packs_dir / pack
    write_inline(folder, {**FILES, "benchpack.toml": MANIFEST.format(pack=pack), **(files or {})})
    return folder


def make_tiny(packs_dir: Path, manifest: str, **files: Any) -> Path:
    """A pack `p` whose manifest goes on after its `[pack]` table with these lines."""
    folder = packs_dir / "p"
    write_inline(folder, {"benchpack.toml": f'[pack]\nid = "p"\nversion = "1"\n{manifest}', **files})
    return folder


def edit(folder: Path, old: str, new: str) -> None:
    """Replace a piece of a pack's manifest, which must be there."""
    path = folder / "benchpack.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def vectors(area: str) -> list[dict[str, Any]]:
    """The vectors of an area."""
    return [json.loads(line) for line in (VECTORS / f"{area}.jsonl").read_text().splitlines()]
