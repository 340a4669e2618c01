"""The verifier lint: a workspace's verify.py is declared in the manifest, and a declared verifier is there."""

from pathlib import Path
from typing import Any

from regrade.gates import Finding

CONVENTION = "verify.py"


def check(identifier: str, folder: Path, manifest: dict[str, Any]) -> Finding | None:
    """MISSING_DECLARATION, MISSING_FILE, or None for a task in order."""
    declared = manifest.get("structural_verifier")
    usual = Path(str(manifest.get("workspace_dir", "workspace"))) / CONVENTION
    if declared is None and (folder / usual).is_file():
        detail = f"{usual} is there, and task.yaml does not declare it: add structural_verifier: {usual}"
        return Finding(identifier, "MISSING_DECLARATION", detail, is_bad=True)
    if declared is not None and not (folder / str(declared)).is_file():
        detail = f"task.yaml declares the structural_verifier {declared}, and there is no such file"
        return Finding(identifier, "MISSING_FILE", detail, is_bad=True)
    return None
