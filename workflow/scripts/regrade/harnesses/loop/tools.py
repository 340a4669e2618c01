"""The tools that loops can have: their parameters, and how a model is told of them."""

from typing import Any, NamedTuple


class About(NamedTuple):
    """What a tool does, its parameters with what each is, and how many of them a call must name."""

    does: str
    parameters: dict[str, str]
    required: int = 0


TOOLS = {
    "list_files": About("Lists the files below a folder.", {"path": "the folder, . for all"}),
    "read_file": About("Shows a file.", {"path": "the file"}, 1),
    "write_file": About("Makes or replaces a file.", {"path": "the file", "content": "all of its text"}, 2),
    "run_tests": About("Runs the tests that you can see.", {}),
    "execute_code": About(
        "Runs code in /workspace. Files stay between calls, processes and variables do not.",
        {"code": "the code", "language": "python or shell"},
        1,
    ),
    "final": About("Says that the work is done.", {"summary": "what was done"}),
}
"""By name; a call may give parameters without their names in this order."""


def plain(name: str) -> str:
    """A tool's name without the name spaces before it."""
    return name.strip().rsplit(".", 1)[-1].rsplit(":", 1)[-1]


def schemas(names: tuple[str, ...]) -> list[dict[str, Any]]:
    """The function schemas of some tools, in the form of chat completions."""
    return [_schema(name, TOOLS[name]) for name in names]


def _schema(name: str, about: About) -> dict[str, Any]:
    properties = {key: {"type": "string", "description": text} for key, text in about.parameters.items()}
    required = list(about.parameters)[: about.required]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": about.does, "parameters": schema}}


def described(names: tuple[str, ...]) -> str:
    """The same tools in words, a line each."""
    return "\n".join(f"- {name}({', '.join(TOOLS[name].parameters)}): {TOOLS[name].does}" for name in names)
