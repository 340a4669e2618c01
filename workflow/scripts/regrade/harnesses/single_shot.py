"""One answer: the model sees the prompt and the beginnings of the inputs, and names whole files.

How files are named in an answer: harnesses/answer_files.py. What does not fit into the workspace is a warning.
"""

from regrade import prompts, workspace
from regrade.errors import RegradeError
from regrade.harnesses import Acted, Context, answer_files, asking
from regrade.models.types import ChatRequest

WRITES_IN_PLACE = False

SYSTEM = "Answer once, with the whole content of each file you write in a fenced block that starts with its path."
FILES_CHARS = 8000


def run(context: Context, acted: Acted) -> None:
    """Ask once, and write what the answer names."""
    with asking.asker(context, acted, asking.store_of(context)) as asker:
        response = asker.ask(ChatRequest(messages(context)))
    asking.write_raw(context.raw("request.json"), context.raw("response.json"), response)
    acted.reason, acted.message = asking.hint(response)
    found = answer_files.parse(response.text, context.output_artifact)
    acted.warnings += found.warnings
    for name, content in found.files.items():
        try:
            workspace.write_into(context.workspace, name, content.encode("utf-8", "backslashreplace"))
        except RegradeError as error:
            acted.warnings.append(f"answer: {error}")
    over = asking.over_budget(context, acted.wall_s)
    if any(over):
        acted.reason, acted.message = over


def messages(context: Context) -> list[dict[str, str]]:
    """The system message and the one question."""
    budget = context.spec["arm"].get("files_chars", FILES_CHARS)
    excerpt = prompts.excerpt(context.workspace, budget)
    prompt = prompts.task_prompt(context.prompt, context.output_artifact)
    text = prompt if prompt.endswith("\n") else f"{prompt}\n"
    if excerpt:
        text += f"\nFiles (beginnings):\n{excerpt}"
    text += f"\nAnswer with\n```{context.output_artifact}\n(content)\n```"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]
