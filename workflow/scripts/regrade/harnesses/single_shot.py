"""One answer: the model sees the prompt and the beginnings of the inputs, and names whole files.

How files are named in an answer: harnesses/answer_files.py. What does not fit into the workspace is a warning.
"""

from pathlib import Path

from regrade import prompts, workspace
from regrade.errors import RegradeError
from regrade.harnesses import Acted, Context, answer_files, asking
from regrade.held_out.prepared import Prepared
from regrade.layout import TaskPaths
from regrade.models.types import ChatRequest
from regrade.patches import fenced
from regrade.patches.apply import apply_response

WRITES_IN_PLACE = False

SYSTEM = "Answer once, with the whole content of each file you write in a fenced block that starts with its path."
SYSTEM_ON_REPOSITORY = "Answer once, with whole files or with one unified diff against the repository."
FILES_CHARS = 8000
GIT_S = 60.0


def run(context: Context, acted: Acted) -> None:
    """Ask once, and write what the answer names."""
    with asking.asker(context, acted, asking.store_of(context)) as asker:
        response = asker.ask(ChatRequest(messages(context)))
    asking.write_raw(context.raw("request.json"), context.raw("response.json"), response)
    acted.reason, acted.message = asking.hint(response)
    if context.output_artifact or not _patched(context, response.text, acted):
        _write_files(context, response.text, acted)
    over = asking.over_budget(context, acted.wall_s)
    if any(over):
        acted.reason, acted.message = over


def _patched(context: Context, text: str, acted: Acted) -> bool:
    """Whether an answer on a repository holds a patch; it is applied if it can be."""
    if fenced.first_block(text) is None:
        return False
    applied = apply_response(context.workspace, text, GIT_S)
    if not applied.applied:
        acted.warnings.append(f"answer: {applied.stderr.strip()}")
    return True


def _write_files(context: Context, text: str, acted: Acted) -> None:
    """Write what an answer names. On a repository a block without a name is nobody's."""
    found = answer_files.parse(text, context.output_artifact)
    acted.warnings += found.warnings
    for name, content in found.files.items():
        try:
            workspace.write_into(context.workspace, name, content.encode("utf-8", "backslashreplace"))
        except RegradeError as error:
            acted.warnings.append(f"answer: {error}")


def _shown(context: Context) -> Path:
    """What the model is shown of: of a repository only what was committed, not what its set-up brought."""
    if context.output_artifact:
        return context.workspace
    task, results = context.spec["task"], context.config.folder("results")
    return Prepared(TaskPaths(results, context.spec["format"], task["collection"], task["case"]).folder).base


def messages(context: Context) -> list[dict[str, str]]:
    """The system message and the one question."""
    budget = context.spec["arm"].get("files_chars", FILES_CHARS)
    excerpt = prompts.excerpt(_shown(context), budget)
    prompt = prompts.task_prompt(context.prompt, context.output_artifact)
    text = prompt if prompt.endswith("\n") else f"{prompt}\n"
    if excerpt:
        text += f"\nFiles (beginnings):\n{excerpt}"
    if context.output_artifact:
        text += f"\nAnswer with\n```{context.output_artifact}\n(content)\n```"
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
    text += "\nAnswer with\n```path/of/a/file\n(content)\n```\nfor each file, or with one patch:\n```diff\n(diff)\n```"
    return [{"role": "system", "content": SYSTEM_ON_REPOSITORY}, {"role": "user", "content": text}]
