"""The loop of a suite's agent_loop task: the model reads, writes and tests a repository until it says final.

Every answer and every run of tests is kept as it comes in, so that a loop that was killed is told again what it was
told.
"""

from typing import Any

from regrade import files, sandbox
from regrade.formats.suite import SuiteTask, request
from regrade.harnesses import Acted, Context, asking
from regrade.harnesses.loop.replay import REASONS, TurnFailed, answers
from regrade.harnesses.loop.repository import Repository
from regrade.harnesses.loop.turns import Loop, Rules
from regrade.harnesses.loop.workspace import Observation
from regrade.models.types import Answer, ChatRequest, ChatResponse, ProviderError
from regrade.repository_tests import TestCommand
from regrade.store import Store

WRITES_IN_PLACE = True
ACTION_MAX_TOKENS = 2048


def run(context: Context, acted: Acted) -> None:
    """Let the model work, or replay the turns of a reference. Without a sandbox nobody is asked."""
    mode = context.spec["code_execution"]
    missing = sandbox.available() if mode == "sandboxed" else "code_execution is off" if mode == "off" else None
    if missing:
        acted.reason, acted.message = "code_not_allowed", f"code does not run here: {missing}"
        return
    if "turns" in context.spec:
        _replay(context, acted)
        return
    store = asking.store_of(context)
    with asking.asker(context, acted, store) as asker:
        _Asked(context, acted, asker, store).run()


def _task(context: Context) -> SuiteTask:
    said = context.spec["task"]
    fields = {**said["fields"], "id": said["id"], "scoring": {"type": "agent_loop"}}
    return SuiteTask(said["id"], said["collection"], fields, images=tuple(said["images"]))


def _rules(context: Context) -> Rules:
    said = context.spec["task"]
    return Rules(said["max_steps"], said["strict_actions"], said["native_tools"])


def _command(context: Context) -> TestCommand:
    said = context.spec["task"]
    return TestCommand(tuple(said["test_command"]), said["timeout_s"])


def _replay(context: Context, acted: Acted) -> None:
    turns = context.spec["turns"]
    waiting = answers(turns if isinstance(turns, list) else [turns])
    repository = Repository(context.workspace, _command(context), context.spec["code_execution"])
    loop = Loop(
        request.messages(_task(context)), repository, _rules(context), lambda *_: next(waiting), _to_log(context)
    )
    try:
        loop.run()
    except TurnFailed:
        loop.progress.termination = "stopped"
    _note(acted, loop, repository)


def _to_log(context: Context) -> Any:
    path = context.paths.log("transcript.jsonl")
    return lambda message: files.append_jsonl(path, message)


def _note(acted: Acted, loop: Loop, repository: Repository) -> None:
    """How the loop ended, for the record and for who scores it."""
    termination = loop.progress.termination
    acted.progress = loop.progress.as_value()
    if not acted.reason and termination in REASONS:
        acted.reason, acted.message = REASONS[termination], f"the loop ended with {termination}, expected final"
    if repository.last is not None:
        acted.sandbox = {**repository.last.about["sandbox"], "cpu_s": repository.last.about["cpu_s"]}


class _Asked:
    """One loop with a model that is asked."""

    def __init__(self, context: Context, acted: Acted, asker: asking.Asker, store: Store) -> None:
        self._context = context
        self._acted = acted
        self._asker = asker
        self._store = store
        self._last: ChatResponse | None = None
        mode = context.spec["code_execution"]
        self._repository = Repository(context.workspace, _command(context), mode, self._remembered)
        opening = request.messages(_task(context))
        self._loop = Loop(opening, self._repository, _rules(context), self._ask, _to_log(context))

    def run(self) -> None:
        """Run it; what ends it early is passed on when what happened so far is noted."""
        try:
            self._loop.run()
        except ProviderError as error:
            if error.kind != "context_length" or not self._acted.responses:
                self._loop.progress.termination = "api_error"
                raise
            self._loop.progress.termination = "max_steps"
            said = f"the conversation no longer fits the model's context: {error}"
            self._acted.reason, self._acted.message = "truncated", said
        finally:
            _note(self._acted, self._loop, self._repository)

    def _ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> Answer | None:
        limit = self._context.config.limits["trial_wall_s"]
        if self._acted.wall_s >= limit:
            said = f"trial_wall_s = {limit:g} s: ended after {self._acted.wall_s:.1f} s of work"
            self._acted.reason, self._acted.message = "agent_timeout", said
            self._loop.progress.termination = "agent_timeout"
            return None
        response = self._asker.ask(ChatRequest(list(messages), self._parameters(), tools))
        row = {"request": response.request_body, "response": asking.response_value(response)}
        files.append_jsonl(self._context.raw("calls.jsonl"), row)
        self._last = response
        return response

    def _parameters(self) -> dict[str, Any]:
        spec = self._context.spec
        task = _task(self._context)
        wanted = request.parameters(task, spec["model"]["adapter"])
        asked = request.merged(spec["model"]["request"], wanted, spec["override"])
        tokens = spec["task"]["action_max_tokens"] or min(
            asked.get("max_tokens") or ACTION_MAX_TOKENS, ACTION_MAX_TOKENS
        )
        return {**asked, "max_tokens": tokens}

    def _remembered(self, run: Any) -> Observation:
        """What the model was told of this run of tests, if it was asked and answered before."""
        assert self._last is not None
        key = (self._last.digest, self._context.spec["repetition"], 0, {"task": self._context.spec["task"]["digest"]})
        told = self._store.observation(*key)
        if told is None:
            found: Observation = run()
            self._store.remember_observation(*key, list(found))
            return found
        return Observation(*told)
