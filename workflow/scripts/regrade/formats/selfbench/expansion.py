"""What a definition becomes when its tests run: commands with selectors in them, and paths no agent may write."""

from collections.abc import Iterable

from regrade.formats.selfbench import diffs, javascript
from regrade.formats.selfbench.definition import Definition
from regrade.formats.selfbench.fields import PLACEHOLDER
from regrade.formats.selfbench.load import SelfbenchTask

NOTHING_TO_RUN = "true"


def command(definition: Definition, selectors: Iterable[str]) -> str:
    """The test command with each selector as a shell word of its own; without any, a command that does nothing."""
    words = [quoted(selector) for selector in selectors]
    return definition.test_command.replace(PLACEHOLDER, " ".join(words)) if words else NOTHING_TO_RUN


def quoted(text: str) -> str:
    """A text as one shell word in single quotes."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def held_out(task: SelfbenchTask) -> list[str]:
    """Every path that belongs to the hidden tests, once each, sorted by UTF-16 units."""
    listed = {javascript.joined(task.definition.workdir, path) for path in task.definition.test_paths}
    return sorted(listed | set(diffs.paths(task.test_patch)), key=javascript.order)


def exclusions(paths: Iterable[str]) -> list[str]:
    """The options that make `git apply` pass over paths and over what lies below them."""
    return [option for path in paths for option in _exclusion(path.removesuffix("/"))]


def _exclusion(path: str) -> tuple[str, str]:
    return f"--exclude={path}", f"--exclude={path}/*"
