"""One turn of a model to the action that it asks for."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from regrade.harnesses.loop import function_calls, json_calls, tagged_calls
from regrade.harnesses.loop.found import Broken, Finding, Found
from regrade.harnesses.loop.json_values import as_object
from regrade.harnesses.loop.tools import TOOLS, plain
from regrade.models.types import Answer
from regrade.scorers.suite.thinking import split_thinking

LONGEST = 2_000_000
"""Characters of a turn that are read."""

NO_CALL = "there is no call of a tool in it"
_AROUND_THE_END = " \t\r\n`*.)]}|<>/"
_TAGS = ("tool_call", "tool_calls_section_end", "tool_call_end")


class Action(NamedTuple):
    """A tool's name, which nobody may know, and its arguments."""

    tool: str
    args: dict[str, Any]


class Unreadable(NamedTuple):
    """Why a turn is no action."""

    why: str


class Reading(NamedTuple):
    """What a turn is taken for.

    `said` is the text in which the action was found, `call` the place of a native one among the turn's calls; `more`
    says that there are others, which are not carried out.
    """

    action: Action | Unreadable
    said: str = ""
    call: int | None = None
    more: bool = False


def parse(text: str) -> Action | Unreadable:
    """The action of a turn's text, thoughts taken off first.

    JSON goes before calls in marks and these before functions, unless it stands inside such a call. The first of a
    known tool counts.
    """
    return read_text(split_thinking(text[:LONGEST])[0]).action


def read_turn(answer: Answer, tools: Sequence[str], *, tagged_thoughts: bool = True) -> Reading:
    """The action of an answer: its native call, else what its text asks for, else what its reasoning ends with.

    `tagged_thoughts` says whether tags in the text mark thoughts.
    """
    if answer.tool_calls:
        return _native(answer.tool_calls, tools)
    text = answer.text[:LONGEST]
    visible = split_thinking(text)[0] if tagged_thoughts else text.strip()
    if visible:
        return read_text(visible)
    return _at_the_end(answer.reasoning[:LONGEST]) or read_text("")


def _native(calls: list[dict[str, str]], tools: Sequence[str]) -> Reading:
    names = [plain(call["name"]) for call in calls]
    place = next((place for place, name in enumerate(names) if name in tools), None)
    more = len(calls) > 1
    if place is None:
        said = f"there is no tool {names[0]!r:.80}, expected one of: {', '.join(tools)}"
        return Reading(Unreadable(said), call=0, more=more)
    args = as_object(calls[place]["arguments"])
    if args is None:
        return Reading(Unreadable(f"the arguments of {names[place]} are no JSON object"), call=place, more=more)
    return Reading(Action(names[place], args), call=place, more=more)


def read_text(visible: str) -> Reading:
    """The action of a text without thoughts."""
    if not visible:
        return Reading(Unreadable("it is empty"))
    found = _first(visible)
    if isinstance(found, Found):
        more = isinstance(_first(visible[found.end :]), Found)
        return Reading(Action(found.tool, found.args), visible, more=more)
    if isinstance(found, Broken):
        return Reading(Unreadable(found.why), visible)
    named = next((tool for tool in TOOLS if tool in visible), None)
    return Reading(Unreadable(f"{named} is named in it, but not called" if named else NO_CALL), visible)


def _first(text: str) -> Finding | None:
    """The call that counts, or the broken one that stands in its place."""
    in_json = list(json_calls.calls(text))
    outside = _outside_json(text)
    known = next((call for call in in_json if isinstance(call, Broken) or call.tool in TOOLS), None)
    known = known or next(json_calls.summaries(text), None)
    if known and not (outside and _holds(outside, known.start)):
        return known
    return outside or next(iter(in_json), None)


def _outside_json(text: str) -> Finding | None:
    """The first call in marks, else the first function that stands for itself, else one in a sentence."""
    tagged = next(tagged_calls.calls(text), None)
    if tagged:
        return tagged
    functions = list(function_calls.calls(text))
    standing = [call for call in functions if isinstance(call, Broken) or call.stands]
    return next(iter(standing or functions), None)


def _holds(call: Finding, place: int) -> bool:
    """Whether a place of the text is inside a call; a broken one goes on to the end."""
    return call.start < place and (isinstance(call, Broken) or place < call.end)


def _at_the_end(reasoning: str) -> Reading | None:
    """The last call in what a model thought, if nothing follows it: what it only thinks about is no action."""
    found = max(_all(reasoning), key=lambda call: call.end, default=None)
    if found is None:
        return None
    rest = reasoning[found.end :]
    for tag in _TAGS:
        rest = rest.replace(tag, "")
    if rest.strip(_AROUND_THE_END):
        return None
    return Reading(Action(found.tool, found.args), reasoning[found.start :])


def _all(text: str) -> Iterator[Found]:
    for calls in (json_calls.calls, json_calls.summaries, tagged_calls.calls, function_calls.calls):
        yield from (call for call in calls(text) if isinstance(call, Found) and call.stands)
