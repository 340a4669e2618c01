"""Checks the form of output/glob_match.py, not whether its answers are right: python verify.py [scratch]."""

import ast
import sys
from pathlib import Path

ARTIFACT = "output/glob_match.py"
FUNCTION = "glob_match"


def verify(artifact_path: Path) -> None:
    """Raise AssertionError unless the file is Python that defines the function."""
    assert artifact_path.is_file(), f"{artifact_path} is not there"
    try:
        module = ast.parse(artifact_path.read_bytes().decode("utf-8-sig"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise AssertionError(f"{artifact_path} is no Python that can be read: {error}") from error
    names = {name for node in ast.walk(module) for name in _bound_names(node)}
    assert FUNCTION in names, f"{artifact_path} does not define {FUNCTION}"


def _bound_names(node: ast.AST) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.alias):
        return [node.asname or node.name]
    return [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []


if __name__ == "__main__":
    scratch = Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd()
    try:
        verify(scratch / ARTIFACT)
    except AssertionError as error:
        sys.exit(f"FAIL: {error}")
    print("the form is right")
