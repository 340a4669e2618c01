"""Asking a trial's model step by step: every request, answer and result is kept as it comes in.

A loop that was killed starts on a fresh workspace, gets its answers from the store and tells the model what it was told
before. Limits count time worked, by the model and by code, as it was measured the first time.
"""

from collections.abc import Callable
from typing import Any

from regrade import files
from regrade.harnesses import Acted, Context, asking
from regrade.harnesses.loop.progress import Progress
from regrade.harnesses.loop.turns import Loop
from regrade.models.types import ChatRequest, ChatResponse, ProviderError
from regrade.store import Store

_REFUSED = "refused"


class Talk:
    """One trial's conversation with its model."""

    def __init__(self, context: Context, acted: Acted, asker: asking.Asker, store: Store) -> None:
        self.context = context
        self.acted = acted
        self._asker = asker
        self._store = store
        self._takes_tools = True

    @property
    def last(self) -> ChatResponse:
        """The latest answer."""
        return self.acted.responses[-1]

    def ask(
        self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, parameters: dict[str, Any]
    ) -> ChatResponse:
        """The answer; a server that refuses tools is asked without from then on, also when the talk is replayed."""
        response = self._answer(ChatRequest(messages, parameters, tools if self._takes_tools else None))
        row = {"request": response.request_body, "response": asking.response_value(response)}
        files.append_jsonl(self.context.raw("calls.jsonl"), row)
        return response

    def _answer(self, request: ChatRequest) -> ChatResponse:
        if not request.tools:
            return self._asker.ask(request)
        key = (self._asker.digest(request), self.context.spec["repetition"], 0, "tools")
        if self._store.observation(*key) != _REFUSED:
            try:
                return self._asker.ask(request)
            except ProviderError as error:
                if not (error.kind == "tools" or error.parameter == "tools"):
                    raise
            self._store.remember_observation(*key, _REFUSED)
        self._takes_tools = False
        self.acted.warnings.append("the server takes no tools: actions were asked for in the text form")
        return self._asker.ask(ChatRequest(request.messages, request.parameters))

    def told(self, cause: Any) -> dict[str, Any] | None:
        """What the model was told of the latest answer's action, None if it was told nothing yet.

        `cause` is a JSON value that holds all that this depends on, beside the conversation.
        """
        found: dict[str, Any] | None = self._store.observation(self.last.digest, *self._place(cause))
        return found

    def remember(self, cause: Any, result: dict[str, Any]) -> dict[str, Any]:
        """Keep what the model is told of it; the same again."""
        self._store.remember_observation(self.last.digest, *self._place(cause), result)
        return result

    def _place(self, cause: Any) -> tuple[int, int, Any]:
        return self.context.spec["repetition"], 0, cause

    def add_sandbox(self, about: dict[str, Any]) -> None:
        """Note what the sandbox says of its latest run, with the CPU seconds of all."""
        before = self.acted.sandbox["cpu_s"] if self.acted.sandbox else 0.0
        known = before is not None and about["cpu_s"] is not None
        self.acted.sandbox = {**about, "cpu_s": round(before + about["cpu_s"], 4) if known else None}

    def end(self, reason: str, message: str) -> None:
        """End the trial for a reason."""
        self.acted.reason, self.acted.message = reason, message

    @property
    def is_over(self) -> bool:
        """Whether a limit on time is used up, or the trial has ended otherwise; then the reason stands."""
        if not self.acted.reason:
            limit, worked = self.context.config.limits["trial_wall_s"], self.acted.wall_s
            self.end(*asking.over_budget(self.context, worked))
            if not self.acted.reason and worked >= limit:
                self.end("agent_timeout", f"trial_wall_s = {limit:g} s: ended after {worked:.1f} s of work")
        return bool(self.acted.reason)

    @property
    def seconds_left(self) -> float:
        """What is left of the trial's time."""
        limit = self.context.config.limits["trial_wall_s"]
        return min(limit, self.context.enforced("max_wall_seconds") or limit) - self.acted.wall_s

    def run(self, loop: Loop) -> None:
        """Run a loop of this talk to its end, and say why it did not end well."""
        try:
            loop.run()
        except ProviderError as error:
            loop.progress.termination = "api_error"
            if error.kind != "context_length" or not self.acted.responses:
                raise
            loop.progress.termination = "context_full"
            self.end("truncated", f"the conversation no longer fits the model's context: {error}")
        if not self.acted.reason:
            self._explain(loop.progress)

    def _explain(self, progress: Progress) -> None:
        """Why a loop that did not end well did not: how its last answer ended, where no action could ever be read."""
        if not progress.reason:
            return
        hint, message = asking.hint(self.last) if self.acted.responses else ("", "")
        if hint and not progress.checks["valid_action"]:
            self.end(hint, message)
        else:
            self.end(progress.reason, f"the loop ended with {progress.termination}, expected final")


def transcript_of(context: Context) -> Callable[[dict[str, Any]], None]:
    """Writes the transcript of a trial, row by row."""
    path = context.paths.log("transcript.jsonl")
    return lambda row: files.append_jsonl(path, row)
