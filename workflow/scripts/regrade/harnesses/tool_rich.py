"""The loop with tools for files, and one that runs code: artifact tasks worked on as a developer would."""

import json
from typing import Any

from regrade import prompts, sandbox
from regrade.harnesses import Acted, Context, asking, tool
from regrade.harnesses.loop.actions import Action
from regrade.harnesses.loop.files import Files, Observation
from regrade.harnesses.loop.talk import Talk, transcript_of
from regrade.harnesses.loop.turns import Loop, Rules
from regrade.models.types import ChatResponse

WRITES_IN_PLACE = True
MAX_STEPS = 30


def run(context: Context, acted: Acted) -> None:
    """Ask, act, tell, until the model says final or a limit ends it. Without a sandbox nobody is asked."""
    missing = sandbox.available() if context.config.sandbox == "bubblewrap" else None
    if missing:
        acted.reason, acted.message = "code_not_allowed", f"code does not run here: {missing}"
        return
    store = asking.store_of(context)
    with asking.asker(context, acted, store) as asker:
        _work(Talk(context, acted, asker, store))
    tool.require_workspace(context)


def _work(talk: Talk) -> None:
    context = talk.context
    rules = Rules(context.spec["arm"].get("max_steps", MAX_STEPS), native=True)
    prompt = prompts.task_prompt(context.prompt, context.output_artifact)
    opening = [{"role": "user", "content": prompt}]

    def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> ChatResponse | None:
        return None if talk.is_over else talk.ask(messages, tools, {})

    talk.run(Loop(opening, Workbench(talk), rules, ask, transcript_of(context)))


class Workbench:
    """The tools: those on files, and execute_code within the task's budget."""

    names = ("list_files", "read_file", "write_file", "execute_code", "final")

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._files = Files(talk.context.workspace, guards_tests=False)

    def do(self, action: Action) -> Observation:
        """Carry out an action but final. Raises SandboxError where code cannot run, OSError for a full disk."""
        if action.tool != "execute_code":
            tool.require_workspace(self._talk.context)
            return self._files.do(action.tool, action.args)
        said = {"id": "", "name": action.tool, "arguments": json.dumps(action.args)}
        call = tool.calls_in(ChatResponse(tool_calls=[said]), text_form=False)[0]
        if call.fault:
            return Observation(False, call.fault)
        budget = self._talk.context.enforced("max_code_runs")
        if budget and self._talk.acted.code_runs >= budget:
            self._talk.end("budget_exceeded", f"max_code_runs = {budget:g}: the model wanted to run code once more")
            return Observation(False, f"the budget of {budget:g} code runs is used up")
        return self._run(call)

    def _run(self, call: tool.Call) -> Observation:
        """Run code; on a replay the model is told what it was told the first time."""
        talk, context = self._talk, self._talk.context
        talk.acted.code_runs += 1
        limits = tool.limits_of(context, talk.seconds_left)
        ran = tool.execute(context, call, limits)
        talk.add_sandbox(ran.about)
        cause = tool.cause(context, [call], limits)
        told = talk.told(cause) or talk.remember(cause, {"text": ran.observation, "wall_s": ran.wall_s})
        talk.acted.wall_s += told["wall_s"]
        return Observation(True, str(told["text"]))
