"""The loop itself: ask, act, tell, until the model is done or something ends it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from regrade.harnesses.loop import tools
from regrade.harnesses.loop.actions import Action, Reading, Unreadable, read_turn
from regrade.harnesses.loop.files import Observation
from regrade.harnesses.loop.json_values import as_object
from regrade.harnesses.loop.progress import Progress
from regrade.models.message import mend
from regrade.models.types import Answer

EXAMPLE = '{"tool": "read_file", "args": {"path": "notes.txt"}}'
ROLES = (
    "You work on the files in /workspace, one action a turn, {steps} turns at most. {form}After each turn you are told "
    "what came of it. write_file takes the whole content of a file. Call final when the work is done. The tools:\n"
    "{tools}"
)
_TEXT = f"Answer with exactly one JSON object such as {EXAMPLE}, and nothing else. "
_NATIVE = f"Call one tool a turn. If you cannot call tools, answer with one JSON object such as {EXAMPLE} instead. "
_ONE = "only the first call of a turn is carried out"
_CUT = ("length", "max_tokens")
_LONGEST_SHOWN = 20_000

Message = dict[str, Any]
Ask = Callable[[list[Message], list[dict[str, Any]] | None], Answer | None]
"""Messages and tool schemas to an answer; None where the loop is over for reasons of who asks."""

Note = Callable[[Message], None]
"""Told of each message and turn as it comes, for the transcript."""


class Toolbox(Protocol):
    """What a model can do."""

    @property
    def names(self) -> tuple[str, ...]:
        """The tools, final among them."""

    def do(self, action: Action) -> Observation:
        """Carry out an action of one of the names but final."""


@dataclass(frozen=True)
class Rules:
    """How a loop is run.

    `strict`: a turn that cannot be read, or calls a tool that there is not, ends it. `native`: the tools are offered as
    functions too. `tagged_thoughts`: tags in an answer mark thoughts.
    """

    max_steps: int
    strict: bool = False
    native: bool = False
    tagged_thoughts: bool = True


class Loop:
    """One loop: the conversation so far, and how far it came."""

    def __init__(self, opening: list[Message], toolbox: Toolbox, rules: Rules, ask: Ask, note: Note) -> None:
        self.progress = Progress()
        self._toolbox = toolbox
        self._rules = rules
        self._ask = ask
        self._note = note
        self._messages = opened(opening, toolbox.names, rules)
        for message in self._messages:
            note(message)

    def run(self) -> None:
        """Go on until `progress.termination` says how it ended. What asking and acting raise is passed on."""
        schemas = tools.schemas(self._toolbox.names) if self._rules.native else None
        for _ in range(self._rules.max_steps):
            self.progress.model_calls += 1
            answer = self._ask(list(self._messages), schemas)
            if answer is None:
                self.progress.model_calls -= 1
                self.progress.termination = "agent_timeout"
                return
            self._turn(answer)
            if self.progress.termination:
                return
        self.progress.termination = "max_steps"

    def _turn(self, answer: Answer) -> None:
        reading = read_turn(answer, self._toolbox.names, tagged_thoughts=self._rules.tagged_thoughts)
        self._messages.append(_said_back(answer, reading))
        self._note({"role": "assistant", **_shown(answer, reading)})
        observation = self._carried_out(reading.action)
        if not self.progress.termination:
            self._tell(answer, reading, observation)
        elif self.progress.termination == "invalid_action":
            self.progress.final_response = answer.text[:_LONGEST_SHOWN]

    def _carried_out(self, action: Action | Unreadable) -> Observation:
        """What comes of a turn."""
        if isinstance(action, Unreadable):
            if self._rules.strict:
                self.progress.termination = "invalid_action"
            return Observation(False, f"not understood: {action.why}")
        if action.tool == "final":
            self.progress.finish(action.args.get("summary"))
            return Observation(True, "")
        if action.tool in self._toolbox.names:
            observation = self._toolbox.do(action)
            self.progress.note(action.tool, observation.ok)
            return observation
        self.progress.note(action.tool, False)
        if self._rules.strict:
            self.progress.termination = "stopped"
        known = ", ".join(self._toolbox.names)
        return Observation(False, f"there is no tool {action.tool!r:.80}, expected one of: {known}")

    def _tell(self, answer: Answer, reading: Reading, observation: Observation) -> None:
        """The observation: for native calls as each one's result, else as the user's turn."""
        text = observation.text if observation.ok else f"failed: {observation.text}"
        if isinstance(reading.action, Unreadable):
            cut = "; the turn was cut off at the token limit" if (answer.finish_reason or "").lower() in _CUT else ""
            text = f"{observation.text}{cut}. Expected one call, such as {EXAMPLE}"
        if reading.call is None:
            more = f"\n({_ONE})" if reading.more else ""
            self._say({"role": "user", "content": mend(text + more)}, observation.ok)
        for place, call in enumerate(answer.tool_calls):
            said = text if place == reading.call else f"not carried out: {_ONE}"
            self._say({"role": "tool", "tool_call_id": call["id"], "content": mend(said)}, observation.ok)

    def _say(self, message: Message, ok: bool) -> None:
        self._messages.append(message)
        self._note({**message, "ok": ok})


def opened(opening: list[Message], names: tuple[str, ...], rules: Rules) -> list[Message]:
    """A conversation with what a model is told about its tools, behind the task's own system prompt."""
    form = _NATIVE if rules.native else _TEXT
    roles = ROLES.format(steps=rules.max_steps, form=form, tools=tools.described(names))
    if opening and opening[0]["role"] == "system":
        return [{"role": "system", "content": f"{opening[0]['content']}\n\n{roles}"}, *opening[1:]]
    return [{"role": "system", "content": roles}, *opening]


def _said_back(answer: Answer, reading: Reading) -> Message:
    """A turn as later requests repeat it, without thoughts. Servers refuse one of nothing, and arguments that are no
    JSON object."""
    if answer.tool_calls:
        calls = [_call_said_back(call) for call in answer.tool_calls]
        return {"role": "assistant", "content": answer.text, "tool_calls": calls}
    return {"role": "assistant", "content": reading.said or "(nothing)"}


def _call_said_back(call: dict[str, str]) -> dict[str, Any]:
    args = as_object(call["arguments"])
    arguments = json.dumps({"not_json": call["arguments"]} if args is None else args)
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def _shown(answer: Answer, reading: Reading) -> dict[str, Any]:
    """A turn in the transcript: its action, the content of a file only as its length; else its text."""
    if isinstance(reading.action, Unreadable):
        return {"content": answer.text[:_LONGEST_SHOWN], "unreadable": reading.action.why}
    args = dict(reading.action.args)
    if reading.action.tool == "write_file" and isinstance(args.get("content"), str):
        args["content"] = f"{len(args['content'])} characters"
    return {"tool": reading.action.tool, "args": args}
