"""A loop with one tool: the model runs Python or shell code in the sandbox until it says no more.

Every answer and every tool result is kept as it comes in (raw/, task/, the response store). A killed loop starts on a
fresh workspace, gets its answers from the store, runs their code again, and tells the model what it was told before.
Limits count time worked, by the model and by code, as it was measured the first time: so a replay ends where the
original would have.
"""

import json
from typing import Any

from regrade import files, prompts, sandbox
from regrade.harnesses import Acted, Context, asking, tool
from regrade.models.types import ChatRequest, ChatResponse, ProviderError
from regrade.store import Store

WRITES_IN_PLACE = True

MAX_STEPS = 30
REFUSED = "refused"
SYSTEM = f"You work with one tool, execute_code. If you cannot call tools: {tool.TEXT_FORM}"


def run(context: Context, acted: Acted) -> None:
    """Ask, run, tell, until the model is done or a limit ends it. Without a sandbox nobody is asked."""
    missing = sandbox.available() if context.config.sandbox == "bubblewrap" else None
    if missing:
        acted.reason, acted.message = "code_not_allowed", f"code does not run here: {missing}"
        return
    store = asking.store_of(context)
    with asking.asker(context, acted, store) as asker:
        _Loop(context, acted, asker, store).run()
    tool.require_workspace(context)


class _Loop:
    """The state of one trial: the conversation so far, and the form in which the model calls its tool."""

    def __init__(self, context: Context, acted: Acted, asker: asking.Asker, store: Store) -> None:
        self.context = context
        self.acted = acted
        self.asker = asker
        self.store = store
        self.tools: list[dict[str, Any]] | None = [tool.DEFINITION]
        self.text_form = True
        self.messages: list[dict[str, Any]] = []

    def run(self) -> None:
        """Go on until there is nothing more to run, or a reason to end."""
        prompt = prompts.task_prompt(self.context.prompt, self.context.output_artifact)
        self._say({"role": "system", "content": SYSTEM})
        self._say({"role": "user", "content": prompt})
        steps = self.context.spec["arm"].get("max_steps", MAX_STEPS)
        for _ in range(steps):
            response = self._answer()
            if response is None:
                return
            calls = tool.calls_in(response, self.text_form)
            if not calls:
                self._finish(response)
                return
            # A model that calls its tool natively means its fenced blocks to be read by people.
            self.text_form = self.text_form and not response.tool_calls
            self._run_all(calls, response)
            if self.acted.reason:
                return
        self._end("agent_timeout", f"max_steps = {steps}: the model still wanted to go on")

    def _finish(self, response: ChatResponse) -> None:
        if not self._is_over():
            reason, message = asking.hint(response)
            if reason != "no_response" or not self.acted.code_runs:
                self._end(reason, message)

    def _answer(self) -> ChatResponse | None:
        """The next answer; None when the conversation has outgrown the model."""
        try:
            response = self._ask_in_form()
        except ProviderError as error:
            if error.kind != "context_length" or not self.acted.responses:
                raise
            self._end("truncated", f"the conversation no longer fits the model's context: {error}")
            return None
        row = {"request": response.request_body, "response": asking.response_value(response)}
        files.append_jsonl(self.context.raw("calls.jsonl"), row)
        message: dict[str, Any] = {"role": "assistant", "content": response.text}
        if response.tool_calls:
            message["tool_calls"] = [_as_message(call) for call in response.tool_calls]
        self._say(message)
        return response

    def _ask_in_form(self) -> ChatResponse:
        """Ask with the tool; a server that refuses tools is asked without from then on, also when replayed."""
        if self.tools is None:
            return self.asker.ask(ChatRequest(self.messages))
        request = ChatRequest(self.messages, tools=self.tools)
        key = (self.asker.digest(request), self.context.spec["repetition"], 0, "tools")
        if self.store.observation(*key) != REFUSED:
            try:
                return self.asker.ask(request)
            except ProviderError as error:
                if not (error.kind == "tools" or error.parameter == "tools"):
                    raise
            self.store.remember_observation(*key, REFUSED)
        self.tools = None
        self.acted.warnings.append("the server takes no tools: code was asked for in the text form")
        return self.asker.ask(ChatRequest(self.messages))

    def _run_all(self, calls: list[tool.Call], response: ChatResponse) -> None:
        for index, call in enumerate(calls):
            if self._is_over():
                return
            observation = f"not run: {call.fault}" if call.fault else self._run(calls[: index + 1], response)
            role = {"role": "tool", "tool_call_id": call.id} if call.id else {"role": "user"}
            self._say({**role, "content": observation})
        self._is_over()

    def _run(self, calls: list[tool.Call], response: ChatResponse) -> str:
        """Run the last of these calls of an answer; on a replay the model is told what it was told the first time."""
        budget = self.context.enforced("max_code_runs")
        if budget and self.acted.code_runs >= budget:
            self._end("budget_exceeded", f"max_code_runs = {budget:g}: the model wanted to run code once more")
            return f"not run: the budget of {budget:g} code runs is used up"
        self.acted.code_runs += 1
        limits = tool.limits_of(self.context, self._seconds_left())
        ran = tool.execute(self.context, calls[-1], limits)
        self._note_sandbox(ran.about)
        cause = tool.cause(self.context, calls, limits)
        key = (response.digest, self.context.spec["repetition"], len(calls) - 1, cause)
        told = self.store.observation(*key)
        if told is None:
            told = {"text": ran.observation, "wall_s": ran.wall_s}
            self.store.remember_observation(*key, told)
        self.acted.wall_s += told["wall_s"]
        return str(told["text"])

    def _note_sandbox(self, about: dict[str, Any]) -> None:
        """What the sandbox says of its last run, with the CPU seconds of all."""
        before = self.acted.sandbox["cpu_s"] if self.acted.sandbox else 0.0
        known = before is not None and about["cpu_s"] is not None
        self.acted.sandbox = {**about, "cpu_s": round(before + about["cpu_s"], 4) if known else None}

    def _say(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        files.append_jsonl(self.context.paths.log("transcript.jsonl"), message)

    def _end(self, reason: str, message: str) -> None:
        self.acted.reason, self.acted.message = reason, message

    def _seconds_left(self) -> float:
        limit = self.context.config.limits["trial_wall_s"]
        return min(limit, self.context.enforced("max_wall_seconds") or limit) - self.acted.wall_s

    def _is_over(self) -> bool:
        """Whether a limit on time is used up, or the trial has ended otherwise; then the reason stands."""
        if not self.acted.reason:
            limit, worked = self.context.config.limits["trial_wall_s"], self.acted.wall_s
            self._end(*asking.over_budget(self.context, worked))
            if not self.acted.reason and worked >= limit:
                self._end("agent_timeout", f"trial_wall_s = {limit:g} s: ended after {worked:.1f} s of work")
        return bool(self.acted.reason)


def _as_message(call: dict[str, str]) -> dict[str, Any]:
    """A call as it is said back to the server, which may refuse arguments that are no JSON object."""
    arguments = call["arguments"]
    if tool.arguments_of(call) is None:
        arguments = json.dumps({"not_json": arguments})
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}
