"""The loop with tools for files, and one that runs code: artifact tasks worked on as a developer would."""

from typing import Any

from regrade import files, prompts, sandbox
from regrade.harnesses import Acted, Context, asking, tool
from regrade.harnesses.loop.actions import Action
from regrade.harnesses.loop.replay import REASONS
from regrade.harnesses.loop.turns import Loop, Rules
from regrade.harnesses.loop.workspace import Files, Observation
from regrade.models.types import Answer, ChatRequest, ChatResponse, ProviderError
from regrade.store import Store

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
        _Worked(context, acted, asker, store).run()
    tool.require_workspace(context)


class _Worked:
    """One trial: its tools, and the loop that uses them."""

    names = ("list_files", "read_file", "write_file", "execute_code", "final")

    def __init__(self, context: Context, acted: Acted, asker: asking.Asker, store: Store) -> None:
        self._context = context
        self._acted = acted
        self._asker = asker
        self._store = store
        self._last: ChatResponse | None = None
        self._native = True
        self._files = Files(context.workspace, guards_tests=False)
        prompt = prompts.task_prompt(context.prompt, context.output_artifact)
        log = context.paths.log("transcript.jsonl")
        rules = Rules(context.spec["arm"].get("max_steps", MAX_STEPS), native=True)
        opening = [{"role": "user", "content": prompt}]
        self._loop = Loop(opening, self, rules, self._ask, lambda message: files.append_jsonl(log, message))

    def run(self) -> None:
        """Run the loop, and note how it ended."""
        try:
            self._loop.run()
        except ProviderError as error:
            if error.kind != "context_length" or not self._acted.responses:
                raise
            self._end("truncated", f"the conversation no longer fits the model's context: {error}")
        finally:
            self._acted.progress = self._loop.progress.as_value()
        termination = self._loop.progress.termination
        if not self._acted.reason and termination in REASONS:
            self._end(REASONS[termination], f"the loop ended with {termination}, expected final")

    def do(self, action: Action) -> Observation:
        """Carry out an action but final."""
        if action.tool != "execute_code":
            return self._files.do(action.tool, action.args)
        budget = self._context.enforced("max_code_runs")
        if budget and self._acted.code_runs >= budget:
            self._end("budget_exceeded", f"max_code_runs = {budget:g}: the model wanted to run code once more")
            return Observation(False, f"the budget of {budget:g} code runs is used up")
        return self._run_code(str(action.args.get("language", "python")).lower(), action.args.get("code"))

    def _run_code(self, language: str, code: Any) -> Observation:
        if language not in tool.INTERPRETERS or not isinstance(code, str):
            return Observation(False, "expected language (python or shell) and code, a text")
        assert self._last is not None
        self._acted.code_runs += 1
        call = tool.Call("", language, code)
        limits = tool.limits_of(self._context, self._seconds_left())
        ran = tool.execute(self._context, call, limits)
        self._note_sandbox(ran.about)
        key = (self._last.digest, self._context.spec["repetition"], 0, tool.cause(self._context, [call], limits))
        told = self._store.observation(*key)
        if told is None:
            told = {"text": ran.observation, "wall_s": ran.wall_s}
            self._store.remember_observation(*key, told)
        self._acted.wall_s += told["wall_s"]
        return Observation(True, str(told["text"]))

    def _note_sandbox(self, about: dict[str, Any]) -> None:
        before = self._acted.sandbox["cpu_s"] if self._acted.sandbox else 0.0
        known = before is not None and about["cpu_s"] is not None
        self._acted.sandbox = {**about, "cpu_s": round(before + about["cpu_s"], 4) if known else None}

    def _ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> Answer | None:
        self._end(*asking.over_budget(self._context, self._acted.wall_s)) if not self._acted.reason else None
        limit = self._context.config.limits["trial_wall_s"]
        if not self._acted.reason and self._acted.wall_s >= limit:
            self._end("agent_timeout", f"trial_wall_s = {limit:g} s: ended after {self._acted.wall_s:.1f} s of work")
        if self._acted.reason:
            self._loop.progress.termination = "agent_timeout"
            return None
        response = self._answer(ChatRequest(list(messages), tools=tools if self._native else None))
        row = {"request": response.request_body, "response": asking.response_value(response)}
        files.append_jsonl(self._context.raw("calls.jsonl"), row)
        self._last = response
        return response

    def _answer(self, request: ChatRequest) -> ChatResponse:
        """The answer; a server that refuses tools is asked in the text form from then on."""
        try:
            return self._asker.ask(request)
        except ProviderError as error:
            if not request.tools or not (error.kind == "tools" or error.parameter == "tools"):
                raise
        self._native = False
        self._acted.warnings.append("the server takes no tools: actions were asked for in the text form")
        return self._asker.ask(ChatRequest(request.messages))

    def _seconds_left(self) -> float:
        limit = self._context.config.limits["trial_wall_s"]
        return min(limit, self._context.enforced("max_wall_seconds") or limit) - self._acted.wall_s

    def _end(self, reason: str, message: str) -> None:
        self._acted.reason, self._acted.message = reason, message
