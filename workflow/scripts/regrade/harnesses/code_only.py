"""A loop with one tool: the model runs Python or shell code in the sandbox until it says no more.

Every answer and every tool result is kept as it comes in (raw/, task/, the response store). A killed loop starts on a
fresh workspace, gets its answers from the store, runs their code again, and tells the model what it was told before.
"""

import time
from typing import Any

from regrade import files, prompts
from regrade.harnesses import Acted, Context, asking, tool
from regrade.models.run import run as run_loop
from regrade.models.types import ChatRequest, ChatResponse, ProviderError

WRITES_IN_PLACE = True

MAX_STEPS = 30
SYSTEM = f"You work with one tool, execute_code. If you cannot call tools: {tool.TEXT_FORM}"


def run(context: Context) -> Acted:
    """Ask, run, tell, until the model is done or a limit ends it."""
    return run_loop(_Loop(context).run())


class _Loop:
    """The state of one trial: messages so far, what was run, and the time that was worked (not waited)."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.store = asking.store_of(context)
        self.acted = Acted()
        self.started = time.monotonic()
        self.waited_s = 0.0
        self.tools: list[dict[str, Any]] | None = [tool.DEFINITION]
        prompt = prompts.task_prompt(context.prompt, context.output_artifact)
        self.messages: list[dict[str, Any]] = []
        self._say({"role": "system", "content": SYSTEM})
        self._say({"role": "user", "content": prompt})

    async def run(self) -> Acted:
        context = self.context
        async with asking.client_of(context) as client:
            for _ in range(context.spec["arm"].get("max_steps", MAX_STEPS)):
                if self._over():
                    break
                response = await self._answer(client)
                self._keep(response)
                calls = tool.calls_in(response)
                if not calls:
                    self.acted.reason, self.acted.message = asking.hint(response)
                    break
                self._run_all(calls, response)
                if self.acted.reason:
                    break
            else:
                self.acted.reason, self.acted.message = "agent_timeout", "the step limit ended the loop (max_steps)"
        self.acted.wall_s = self._worked_s()
        return self.acted

    async def _answer(self, client: Any) -> ChatResponse:
        """The next answer; a server that refuses tools is asked without them from then on."""
        repetition = self.context.spec["repetition"]
        try:
            response: ChatResponse = await client.complete(ChatRequest(self.messages, tools=self.tools), repetition)
        except ProviderError as error:
            if self.tools is None or not (error.kind == "tools" or error.parameter == "tools"):
                raise
            self.tools = None
            self.acted.warnings.append("the server takes no tools: code was asked for in the text form")
            response = await client.complete(ChatRequest(self.messages), repetition)
        self.waited_s += response.timing.waiting_s
        return response

    def _keep(self, response: ChatResponse) -> None:
        self.acted.responses.append(response)
        row = {"request": response.request_body, "response": asking.response_value(response)}
        files.append_jsonl(self.context.raw("calls.jsonl"), row)
        message: dict[str, Any] = {"role": "assistant", "content": response.text}
        if response.tool_calls:
            message["tool_calls"] = [_as_message(call) for call in response.tool_calls]
        self._say(message)

    def _run_all(self, calls: list[tool.Call], response: ChatResponse) -> None:
        for index, call in enumerate(calls):
            observation = f"not run: {call.fault}" if call.fault else self._run(call, response, index)
            role = {"role": "tool", "tool_call_id": call.id} if call.id else {"role": "user"}
            self._say({**role, "content": observation})
            if self.acted.reason:
                return

    def _run(self, call: tool.Call, response: ChatResponse, index: int) -> str:
        """Run one call; on a replay the model is told what it was told the first time."""
        budget = self.context.spec["task"]["max_code_runs"]
        if self.context.spec.get("enforce_budgets") and budget and self.acted.code_runs >= budget:
            self.acted.reason, self.acted.message = "budget_exceeded", f"more than max_code_runs = {budget} code runs"
            return f"not run: the budget of {budget} code runs is used up"
        self.acted.code_runs += 1
        ran = tool.execute(self.context, call, self._limit()[1] - self._worked_s())
        self.acted.sandbox = ran.about
        told = self.store.observation(response.digest, index)
        if told is not None:
            return told
        self.store.remember_observation(response.digest, index, ran.observation)
        return ran.observation

    def _say(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        files.append_jsonl(self.context.paths.log("transcript.jsonl"), message)

    def _worked_s(self) -> float:
        """Seconds since the start, without those spent waiting for the provider to take the request."""
        return time.monotonic() - self.started - self.waited_s

    def _limit(self) -> tuple[str, float]:
        """The wall limit that is nearest: (its name, seconds)."""
        limit = ("trial_wall_s", self.context.config.limits["trial_wall_s"])
        budget = self.context.spec["task"]["max_wall_seconds"]
        if self.context.spec.get("enforce_budgets") and budget:
            limit = min(limit, ("max_wall_seconds", float(budget)), key=lambda named: named[1])
        return limit

    def _over(self) -> bool:
        name, seconds = self._limit()
        worked = self._worked_s()
        if worked < seconds:
            return False
        self.acted.reason = "agent_timeout" if name == "trial_wall_s" else "budget_exceeded"
        self.acted.message = f"{name} = {seconds:g} s: ended after {worked:.1f} s"
        return True


def _as_message(call: dict[str, str]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"id": call["id"], "type": "function", "function": function}
