"""The loop of a suite's agent_loop task: the model reads, writes and tests a repository until it says final.

Hidden tests come in later, when it is done (the score_loop stage).
"""

from typing import Any

from regrade import sandbox
from regrade.formats.suite import SuiteTask, request
from regrade.harnesses import Acted, Context, asking
from regrade.harnesses.loop import replay
from regrade.harnesses.loop.files import Observation
from regrade.harnesses.loop.repository import Repository, run_tests
from regrade.harnesses.loop.talk import Talk, transcript_of
from regrade.harnesses.loop.turns import Loop, Rules
from regrade.models.types import ChatResponse
from regrade.repository_tests import TestCommand

WRITES_IN_PLACE = True
ACTION_MAX_TOKENS = 2048
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def run(context: Context, acted: Acted) -> None:
    """Let the model work, or replay the turns of a reference. Where code does not run nobody is asked."""
    mode = context.spec["code_execution"]
    missing = sandbox.available() if mode == "sandboxed" else "code_execution is off" if mode == "off" else None
    if missing:
        acted.reason, acted.message = "code_not_allowed", f"code does not run here: {missing}"
    elif "turns" in context.spec:
        _replay(context, acted)
    else:
        store = asking.store_of(context)
        with asking.asker(context, acted, store) as asker:
            _work(Talk(context, acted, asker, store))


def _work(talk: Talk) -> None:
    """Let the talk's model work until it says final or something ends it."""
    context = talk.context
    parameters = _parameters(context)
    talk.acted.warnings += request.unsent(_task(context), context.spec["model"]["adapter"])

    def ask(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> ChatResponse | None:
        return None if talk.is_over else talk.ask(messages, tools, parameters)

    repository = Repository(context.workspace, lambda: _tested(talk))
    loop = Loop(request.messages(_task(context)), repository, _rules(context), ask, transcript_of(context))
    try:
        talk.run(loop)
    finally:
        talk.acted.progress = loop.progress.as_value()


def _tested(talk: Talk) -> Observation:
    """What the model is told of a run of the visible tests; told once, it is not run again."""
    context = talk.context
    command, mode = _command(context, talk.seconds_left), context.spec["code_execution"]
    cause = {
        "task": context.spec["task"]["digest"],
        "code_execution": mode,
        "timeout_s": context.spec["task"]["timeout_s"],
    }
    told = talk.told(cause)
    if told is None:
        observation, tested = run_tests(context.workspace, command, mode)
        about = {"cpu_s": tested.about["cpu_s"], **tested.about["sandbox"]} if tested.about else None
        result = {"told": list(observation), "wall_s": tested.about.get("wall_s", 0.0), "sandbox": about}
        told = talk.remember(cause, result)
    if told["sandbox"]:
        talk.add_sandbox(told["sandbox"])
    talk.acted.wall_s += told["wall_s"]
    return Observation(*told["told"])


def _replay(context: Context, acted: Acted) -> None:
    """Carry out the turns of a reference, which has nothing to answer when it is asked once more."""
    command, mode = _command(context), context.spec["code_execution"]
    repository = Repository(context.workspace, lambda: run_tests(context.workspace, command, mode)[0])
    turns = replay.Turns(context.spec["turns"])
    opening, log = request.messages(_task(context)), transcript_of(context)
    loop = Loop(opening, repository, _rules(context), turns.ask, log)
    try:
        loop.run()
    except replay.TurnFailed:
        loop.progress.termination = "stopped"
    acted.progress = loop.progress.as_value()
    if loop.progress.reason:
        said = f"the reference ended with {loop.progress.termination}, expected final"
        acted.reason, acted.message = loop.progress.reason, said


def _task(context: Context) -> SuiteTask:
    said = context.spec["task"]
    fields = {**said["fields"], "id": said["id"], "scoring": {"type": "agent_loop"}}
    return SuiteTask(said["id"], said["collection"], fields, images=tuple(said["images"]))


def _rules(context: Context) -> Rules:
    said, tagged = context.spec["task"], context.spec.get("thinking", "tags") == "tags"
    return Rules(said["max_steps"], said["strict_actions"], said["native_tools"], tagged)


def _command(context: Context, seconds_left: float | None = None) -> TestCommand:
    said = context.spec["task"]
    timeout_s = said["timeout_s"] if seconds_left is None else max(0.1, min(said["timeout_s"], seconds_left))
    return TestCommand(tuple(said["test_command"]), timeout_s)


def _parameters(context: Context) -> dict[str, Any]:
    """The parameters of each request. A turn needs fewer tokens than a whole answer, unless the task says how many."""
    spec = context.spec
    wanted = request.parameters(_task(context), spec["model"]["adapter"])
    asked = request.merged(spec["model"]["request"], wanted, spec["override"])
    said = [asked[name] for name in _LIMITS if isinstance(asked.get(name), int)]
    tokens = spec["task"]["action_max_tokens"] or min([*said, ACTION_MAX_TOKENS])
    return {**asked, "max_tokens": min(tokens, spec["override"].get("max_tokens") or tokens)}
