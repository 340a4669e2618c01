"""The type workflow_trace: traces in every usual shape, their checks, and the state that replay derives."""

import json
from typing import Any

import pytest

from regrade.scorers.suite import matchers
from suite_structured_support import expected, score, vector, vectors, verdict

RIGHT, WRONG = (1.0, True), (0.0, False)
OURS = {
    "workflow_trace-037": RIGHT,
    "workflow_trace-044": RIGHT,
    "workflow_trace-055": RIGHT,
    "workflow_trace-081": RIGHT,
    "workflow_trace-117": WRONG,
    "workflow_trace-118": RIGHT,
    "workflow_trace-119": RIGHT,
}
"""What we say where the vectors ask for a decision."""

KNOWN = vectors("workflow_trace", OURS)
TYPE = {"type": "workflow_trace"}


@pytest.mark.parametrize("identifier", KNOWN)
def test_known_answers(identifier: str) -> None:
    """Every vector that asks for no decision holds."""
    case = KNOWN[identifier]
    assert expected(case) == verdict(score(case["scoring"], case["response"]))


@pytest.mark.parametrize("identifier", OURS)
def test_our_decisions(identifier: str) -> None:
    """Where the format's tool surprises, this is what we say."""
    case = vector("workflow_trace", identifier)
    assert OURS[identifier] == verdict(score(case["scoring"], case["response"]))


@pytest.mark.parametrize(
    "call",
    [
        {"tool": "t", "args": {"x": 1}},
        {"name": "t", "arguments": {"x": 1}},
        {"action": "t", "parameters": {"x": 1}},
        {"type": "t", "x": 1},
        {"tool": "t", "x": 1},
        {"tool": "", "name": "t", "args": {"x": 1}},
        {"tool": None, "name": " t ", "args": None, "arguments": {"x": 1}},
        {"id": "c1", "type": "function", "function": {"name": "t", "arguments": '{"x": 1}'}},
        {"type": "function", "function": {"name": "t", "arguments": {"x": 1}}},
        {"type": "function", "function": "t", "arguments": '{"x": 1}'},
        {"type": "function_call", "name": "t", "call_id": "c1", "arguments": ' {"x": 1}\n'},
    ],
    ids=json.dumps,
)
def test_shapes_of_calls(call: dict[str, Any]) -> None:
    """Calls count in all the shapes in which models and chat APIs write them."""
    table = {**TYPE, "required_tools": ["t"], "required_call_args": [{"tool": "t", "args": {"x": 1}}]}
    assert RIGHT == verdict(score(table, json.dumps({"tool_calls": [call]})))


@pytest.mark.parametrize(
    "text",
    [
        'As [1] says: {"tool_calls": ["a"]}',
        '[1]\n```json\n{"tool_calls": ["a"]}\n```',
        'I use {"a": 1} first. {"calls": ["a"]}',
        '{"tool_calls": ["a"], "state": {"n": 1, "n": 1e999, "m": NaN}} {"tool_calls": ["a"]}',
    ],
)
def test_what_stands_before_a_trace(text: str) -> None:
    """Other JSON around a trace does not hide it."""
    assert RIGHT == verdict(score({**TYPE, "ordered_tools": ["a"]}, text))


@pytest.mark.parametrize(
    "text",
    ["{}", '{"x": 1}', '{"tool_calls": {"tool": "a"}}', "[]", '["a"]', '{"tool_calls": [{"tool": "a"}', "tool_calls"],
)  # fmt: skip
def test_answers_without_a_trace(text: str) -> None:
    """What has neither calls nor a state is no trace, and passes no check, not even one that forbids."""
    found = score({**TYPE, "forbidden_tools": ["rm"], "min_calls": 0}, text)
    assert (*WRONG, "invalid_format") == (*verdict(found), found.reason)


def test_things_that_are_no_calls() -> None:
    """Numbers, nulls and nameless objects in the list are not calls."""
    found = score({**TYPE, "min_calls": 2}, '{"tool_calls": [1, null, {}, [], "", {"args": {}}, {"tool": true}, "a"]}')
    assert "min_calls 2: 1 calls" in found.detail


def test_parts_are_counted_apart() -> None:
    """The record tells the trace's checks from those of the state, and names the first that fail."""
    table = {**TYPE, "required_tools": ["a", "b"], "expected_state": {"x": 1, "y": 2}}
    found = score(table, '{"tool_calls": ["a"], "state": {"x": 1, "y": "\ud800"}}')
    assert 0.5 == found.score
    assert {
        "passed": 2,
        "total": 4,
        "failed": ["required tool b", "expected_state y"],
        "trace": {"passed": 1, "total": 2},
        "state": {"passed": 1, "total": 2},
    } == found.about["checks"]
    assert "2 of 4 checks pass; not: required tool b: not called; expected_state y: is '\\ud800'" in found.detail


def test_further_calls_and_repeats() -> None:
    """An order is a subsequence: what else is called, and how often, does not matter but to max_calls."""
    table = {**TYPE, "ordered_tools": ["read", "write", "test"]}
    calls = ["list", "read", "read", "write", "read", "test", "write"]
    assert RIGHT == verdict(score(table, json.dumps({"tool_calls": calls})))
    assert 0.5 == score({**table, "max_calls": 6}, json.dumps({"tool_calls": calls})).score
    assert WRONG == verdict(score(table, json.dumps({"tool_calls": ["read", "test", "write"]})))


def replayed(effects: dict[str, Any], calls: list[Any], state: dict[str, Any], **start: Any) -> tuple[Any, str]:
    """Score and detail of calls whose effects must lead to a state, whatever state they claim."""
    table = {**TYPE, "replay": {"initial_state": start, "effects": effects}, "expected_state": state}
    found = score(table, json.dumps({"tool_calls": calls, "state": ["claimed"]}))
    return found.score, found.detail


def call(**args: Any) -> dict[str, Any]:
    """A call of the tool t."""
    return {"tool": "t", "args": args}


def test_claims_count_for_nothing_under_replay() -> None:
    """The state is what the calls lead to: a claim earns nothing, and one that is no object costs nothing."""
    table = {**TYPE, "replay": {"effects": {"t": {"set": {"done": True}}}}, "expected_state": {"done": True}}
    assert WRONG == verdict(score(table, '{"tool_calls": [], "state": {"done": true}}'))
    assert WRONG == verdict(score(table, '{"tool_calls": ["u"], "state": {"done": true}}'))
    for claim in ("[]", "7", '"done"', "null", "{}"):
        assert RIGHT == verdict(score(table, f'{{"tool_calls": ["t"], "state": {claim}}}'))
    without = {**TYPE, "required_tools": ["t"]}
    assert "invalid_format" == score(without, '{"tool_calls": ["t"], "state": []}').reason


@pytest.mark.parametrize(
    ("effect", "args", "state"),
    [
        ({"set": {"x": "$args.v"}}, {"v": None}, {"x": None}),
        ({"set": {"x": "$args.v"}}, {"v": 1.5}, {"x": 1.5}),
        ({"set": {"x": "v=$args.v."}}, {"v": True}, {"x": "v=true."}),
        ({"set": {"x": "$args.v.$args.w"}}, {"v": "a", "w": 2}, {"x": "a.2"}),
        ({"set": {"x": ["$args.v", {"k$args.v": "$args.v"}]}}, {"v": 1}, {"x": [1, {"k1": 1}]}),
        ({"set": {"x": "$args.v.id"}}, {"v": {"id": 5}}, {"x": 5}),
        ({"set": {"x": "$args.v.id"}}, {"v": "a"}, {"x": "a.id"}),
        ({"set": {"x": "$args.é"}}, {"é": 1}, {"x": 1}),
        ({"set": {"x": "costs $5"}}, {}, {"x": "costs $5"}),
        ({"set": {"x.$args.v.y": 1}}, {"v": "a"}, {"x": {"a": {"y": 1}}}),
        ({"set": {"x.$args.v": 1}}, {"v": "a.b"}, {"x": {"a.b": 1}}),
        ({"append": {"l": "$args.v"}}, {"v": 3}, {"l": [3]}),
        ({"set": {"l": [1]}, "append": {"l": 2}}, {}, {"l": [1, 2]}),
        ({"append": {"l": 2}, "set": {"l": [1]}}, {}, {"l": [1, 2]}),
    ],
)
def test_effects(effect: dict[str, Any], args: dict[str, Any], state: dict[str, Any]) -> None:
    """What set and append do, and how arguments stand in paths, keys and values."""
    assert 1.0 == replayed({"t": effect}, [call(**args)], state)[0]


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        ({"required_args": ["a", "b", "c"]}, "call 1 (t): has no argument b, c"),
        ({"set": {"x": "$args.b"}}, "set x: the call has no argument b"),
        ({"set": {"$args.b": 1}}, "the call has no argument b"),
        ({"set": {"l.0": 1}}, "set l.0: l is something else than an object"),
        ({"set": {"n.x.y": 1}}, "n is something else than an object"),
        ({"append": {"n": 1}}, "append n: there is something else than a list"),
        ({"append": {"o": 1}}, "there is something else than a list"),
    ],
)
def test_effects_that_fail(effect: dict[str, Any], words: str) -> None:
    """An item that cannot be carried out is one failed check and changes nothing; the other items are done."""
    state = {"l": [1], "n": 1, "o": {}}
    after = {**effect, "append": {**effect.get("append", {}), "done": 1}}
    lost = "required_args" in effect
    wanted = {**state, **({} if lost else {"done": [1]})}
    value, detail = replayed({"t": after}, [call(a=1)], wanted, **state)
    assert value == round(len(wanted) / (len(wanted) + 1), 6)
    assert words in detail


def test_effects_do_not_share() -> None:
    """What one effect stores is its own: a later change touches neither the call's arguments nor another copy."""
    effects = {"t": {"set": {"x": "$args.v", "y": "$args.v"}}, "u": {"set": {"x.k": 2}}}
    table = {**TYPE, "required_call_args": [{"tool": "t", "args": {"v": {"k": 1}}}],
             "replay": {"effects": effects}, "expected_state": {"x.k": 2, "y.k": 1}}  # fmt: skip
    answer = json.dumps({"tool_calls": [call(v={"k": 1}), "u"]})
    assert RIGHT == verdict(score(table, answer))
    assert RIGHT == verdict(score(table, answer))


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"min_calls": "many"}, "grader_error"),
        ({"required_call_args": ["t"]}, "grader_error"),
        ({"expected_state": ["x"]}, "grader_error"),
        ({"expected_state": {"x": {"regex": "("}}}, "grader_error"),
        ({"replay": None}, "wrong_answer"),
        ({"replay": {"effects": []}, "required_tools": []}, "wrong_answer"),
        ({}, "wrong_answer"),
        ({"required_tools": [], "replay": {"effects": {"t": None}}}, "wrong_answer"),
        ({"replay": {"effects": {"t": 5}}, "expected_state": {"x": 1}}, "wrong_answer"),
    ],
)
def test_faulty_tables(table: dict[str, Any], reason: str) -> None:
    """No table makes the scorer raise, and none that checks nothing passes."""
    found = score({**TYPE, **table}, '{"tool_calls": ["t"], "state": {"x": "y"}}')
    assert reason == found.reason
    assert not found.passed


def test_patterns_in_traces_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern without an end is no verdict, in arguments as in the state."""
    monkeypatch.setattr(matchers, "CPU_S", 0.2)
    table = {**TYPE, "required_call_args": [{"tool": "t", "args": {"x": {"regex": "(a+)+$"}}}]}
    found = score(table, json.dumps({"tool_calls": [call(x="a" * 60 + "b")]}))
    assert (None, "grader_error") == (found.score, found.reason)
    assert 1.0 == score(table, json.dumps({"tool_calls": [call(x="aaa")]})).score


def test_many_calls() -> None:
    """A trace of a hundred thousand calls that all fail is a wrong answer, with a short record."""
    table = {**TYPE, "replay": {"effects": {"t": {"required_args": ["x"]}}}, "min_calls": 1}
    found = score(table, json.dumps({"tool_calls": ["t"] * 100_000}))
    assert 0 < found.score < 0.001
    assert len(json.dumps(found.about)) < 5000
