"""Type `workflow_trace`: the calls that a model says it made, and the state they lead to, pass the task's checks.

Checks of the trace: min_calls, max_calls, required_tools, forbidden_tools, ordered_tools (a subsequence: further calls
and repeats between them do not matter), required_call_args (all on one and the same call). Checks of the state:
expected_state, state_contains and, with `replay`, each effect that failed; then the state is derived from the calls,
and what the model claims counts for nothing.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.bounded import BoundedError
from regrade.scorers.suite import replay, trace_calls
from regrade.scorers.suite.matchers import (
    TableFault,
    as_seen,
    at,
    bounded,
    contains,
    described,
    is_matcher,
    matches,
)
from regrade.scorers.suite.normalised import shown, text_of
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, partly, wrong
from regrade.scorers.suite.trace_calls import Call

MOST_SHOWN = 8
LONGEST_SHOWN = 200


class Check(NamedTuple):
    """One check: of which part (trace or state), its name, whether it passed, what was found."""

    part: str
    name: str
    passed: bool
    found: str


def score(task: SuiteTask, response: Response, tools: Tools) -> Score:
    """The share of checks that pass, none at all for an answer without a trace or a task without checks."""
    scoring = task.scoring
    fields = (text_of(scoring.get("calls_field")) or "tool_calls", text_of(scoring.get("state_field")) or "state")
    trace = trace_calls.find(response.text, *fields)
    if trace is None:
        expected = f"expected an object with {fields[0]} and {fields[1]}"
        return wrong(f"no trace in {shown(response.text)}, {expected}", "invalid_format")
    if trace.state is None and "replay" not in scoring:
        return wrong(f"the claimed {fields[1]} is no object", "invalid_format")
    try:
        derived = replay.run(scoring["replay"], trace.calls) if "replay" in scoring else (trace.state or {}, [])
        checks = bounded(lambda: _checks(scoring, trace.calls, *derived), _expected(scoring))
        return _scored([Check(*check) for check in checks])
    except replay.ReplayFault as fault:
        return wrong(str(fault))
    except TableFault as fault:
        return no_verdict("grader_error", str(fault))
    except BoundedError as error:
        return no_verdict("grader_error", f"checking the trace {error}")


def _scored(checks: list[Check]) -> Score:
    if not checks:
        return wrong("the task has no checks")
    failed = [check for check in checks if not check.passed]
    parts: dict[str, Any] = {part: _counted([check for check in checks if check.part == part]) for part in _PARTS}
    about = {**_counted(checks), "failed": [check.name[:LONGEST_SHOWN] for check in failed[:MOST_SHOWN]], **parts}
    detail = f"{about['passed']} of {about['total']} checks pass"
    if failed:
        detail += f"; not: {'; '.join(f'{check.name}: {check.found}'[:LONGEST_SHOWN] for check in failed[:3])}"
    return partly(about["passed"] / about["total"], detail, checks=about)


_PARTS = ("trace", "state")


def _counted(checks: list[Check]) -> dict[str, Any]:
    return {"passed": sum(check.passed for check in checks), "total": len(checks)}


def _checks(scoring: dict[str, Any], calls: list[Call], state: dict[str, Any], failures: list[str]) -> list[Check]:
    replayed = [Check("state", "replay", False, failure) for failure in failures]
    return [*_of_counts(scoring, calls), *_of_tools(scoring, calls), *replayed, *_of_state(scoring, state)]


def _of_counts(scoring: dict[str, Any], calls: list[Call]) -> Iterator[Check]:
    for name in ("min_calls", "max_calls"):
        if scoring.get(name) is None:
            continue
        bound = as_count(scoring[name])
        if bound is None:
            raise TableFault(f"the task's {name} is {scoring[name]!r:.60}, expected a number")
        passed = len(calls) >= bound if name == "min_calls" else len(calls) <= bound
        yield Check("trace", f"{name} {bound:g}", passed, f"{len(calls)} calls")


def _of_tools(scoring: dict[str, Any], calls: list[Call]) -> Iterator[Check]:
    used = {call.tool for call in calls}
    for tool in _names(scoring, "required_tools"):
        yield Check("trace", f"required tool {tool}", tool in used, "not called")
    for tool in _names(scoring, "forbidden_tools"):
        yield Check("trace", f"forbidden tool {tool}", tool not in used, "called")
    for entry in _listed(scoring, "required_call_args"):
        yield _of_arguments(entry, calls)
    order = _names(scoring, "ordered_tools")
    if order:
        waiting = iter(call.tool for call in calls)
        reached = next((place for place, tool in enumerate(order) if tool not in waiting), len(order))
        found = "in order" if reached == len(order) else f"not reached: {order[reached]}"
        yield Check("trace", f"ordered tools {', '.join(order)}", reached == len(order), found)


def _of_arguments(entry: Any, calls: list[Call]) -> Check:
    if not isinstance(entry, dict) or not isinstance(entry.get("args") or {}, dict):
        raise TableFault(f"the task's required_call_args hold {entry!r:.60}, expected mappings with tool and args")
    tool, args = text_of(entry.get("tool")), entry.get("args") or {}
    of_tool = [call for call in calls if call.tool == tool]
    passed = any(all(matches(value, at(call.args, text_of(path))) for path, value in args.items()) for call in of_tool)
    found = f"no call of {len(of_tool)} has them, the last has {as_seen(of_tool[-1].args)}" if of_tool else "not called"
    return Check("trace", f"arguments of {tool}", passed, found)


def _of_state(scoring: dict[str, Any], state: dict[str, Any]) -> Iterator[Check]:
    for key in ("expected_state", "state_contains"):
        for path, expected in _mapping(scoring, key).items():
            found = at(state, text_of(path))
            holds = key == "state_contains" and not is_matcher(expected)
            passed = contains(found, expected) if holds else matches(expected, found)
            wanted = described({"contains": expected} if holds else expected)
            yield Check("state", f"{key} {path}", passed, f"is {as_seen(found)}, expected {wanted}")


def _expected(scoring: dict[str, Any]) -> list[Any]:
    entries = [entry.get("args") for entry in _listed(scoring, "required_call_args") if isinstance(entry, dict)]
    return [_mapping(scoring, "expected_state"), _mapping(scoring, "state_contains"), *entries]


def _mapping(scoring: dict[str, Any], key: str) -> dict[Any, Any]:
    said = scoring.get(key) or {}
    if not isinstance(said, dict):
        raise TableFault(f"the task's {key} is {said!r:.60}, expected a mapping of paths to values")
    return said


def _listed(scoring: dict[str, Any], key: str) -> list[Any]:
    said = scoring.get(key) or []
    return said if isinstance(said, list) else [said]


def _names(scoring: dict[str, Any], key: str) -> list[str]:
    return [text_of(name) for name in _listed(scoring, key)]
