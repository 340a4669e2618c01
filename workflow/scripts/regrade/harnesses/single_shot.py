"""One answer: the model sees the prompt and the beginnings of the inputs, and names whole files.

How files are named in an answer: harnesses/answer_files.py. What does not fit into the workspace is a warning.
"""

from regrade import prompts, workspace
from regrade.errors import RegradeError
from regrade.harnesses import Acted, Context, answer_files, asking
from regrade.models.run import run as run_loop
from regrade.models.types import ChatRequest, ChatResponse

WRITES_IN_PLACE = False

SYSTEM = "Answer once, with the whole content of each file you write in a fenced block that starts with its path."
FILES_CHARS = 8000


def run(context: Context) -> Acted:
    """Ask once, and write what the answer names."""
    request = ChatRequest(messages(context))
    response = run_loop(_ask(context, request))
    asking.write_raw(context.raw("request.json"), context.raw("response.json"), response)
    reason, message = asking.hint(response)
    found = answer_files.parse(response.text, context.output_artifact)
    warnings = list(found.warnings)
    for name, content in found.files.items():
        try:
            workspace.write_into(context.workspace, name, content.encode("utf-8", "backslashreplace"))
        except RegradeError as error:
            warnings.append(str(error))
    return Acted(reason, message, [response], response.timing.wall_s, warnings=warnings)


def messages(context: Context) -> list[dict[str, str]]:
    """The system message and the one question."""
    budget = context.spec["arm"].get("files_chars", FILES_CHARS)
    excerpt = prompts.excerpt(context.workspace, budget)
    parts = [prompts.task_prompt(context.prompt, context.output_artifact).rstrip("\n")]
    if excerpt:
        parts.append(f"Files (beginnings):\n{excerpt.rstrip()}")
    parts.append(f"Answer with\n```{context.output_artifact}\n(content)\n```")
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "\n\n".join(parts)}]


async def _ask(context: Context, request: ChatRequest) -> ChatResponse:
    async with asking.client_of(context) as client:
        return await client.complete(request, repetition=context.spec["repetition"])
