"""The types json_keys and json_schema: which JSON in an answer counts, and what it is held against."""

import json
import os
import time
from typing import Any

import pytest

from regrade.scorers.suite import json_in_text, matchers
from regrade.scorers.suite.matchers import MISSING, at, contains, matches, same
from suite_structured_support import expected, score, vector, vectors, verdict

ERROR, RIGHT, WRONG = (None, None), (1.0, True), (0.0, False)
OURS = {
    "json_keys": {"json_keys-019": ERROR, "json_keys-020": WRONG, "json_keys-021": RIGHT, "json_keys-030": WRONG},
    "json_schema": {
        "json_schema-010": WRONG,
        "json_schema-018": RIGHT,
        "json_schema-024": ERROR,
        "json_schema-029": WRONG,
        "json_schema-042": RIGHT,
        "json_schema-056": WRONG,
        "json_schema-066": RIGHT,
        "json_schema-075": ERROR,
        "json_schema-083": RIGHT,
        "json_schema-086": RIGHT,
        "json_schema-088": ERROR,
    },
}
"""What we say where the vectors ask for a decision."""

KNOWN = {name: case for kind in OURS for name, case in vectors(kind, OURS[kind]).items()}
DECIDED = [(kind, name, answer) for kind, answers in OURS.items() for name, answer in answers.items()]
KEYS = {"type": "json_keys", "keys": ["a"]}
VALUE = {"type": "json_schema", "expected_values": {"a": 1}}


@pytest.mark.parametrize("identifier", KNOWN)
def test_known_answers(identifier: str) -> None:
    """Every vector that asks for no decision holds."""
    case = KNOWN[identifier]
    assert expected(case) == verdict(score(case["scoring"], case["response"]))


@pytest.mark.parametrize(("kind", "identifier", "answer"), DECIDED, ids=[name for _, name, _ in DECIDED])
def test_our_decisions(kind: str, identifier: str, answer: Any) -> None:
    """Where the format's tool surprises, this is what we say; a task's own fault is an error, not a wrong answer."""
    case = vector(kind, identifier)
    found = score(case["scoring"], case["response"])
    assert answer == verdict(found)
    assert ("grader_error" if answer == ERROR else found.reason) == found.reason


DEEP = "[" * 5000 + "]" * 5000
RESPONSES = {
    "empty": "",
    "lone surrogate": '{"b": "\ud800", "\udfff": 1}',
    "escaped surrogate": '{"b": "\\ud800", "\\udfff": 1}',
    "NUL": '\x00{"b": "\x00"}',
    "deep": DEEP,
    "deep and closed in prose": f"See {DEEP} there",
    "huge integer": '{"b": 1' + "0" * 400 + "}",
    "integer that Python refuses": '{"b": 1' + "0" * 9000 + "}",
    "beyond a float": '{"b": [1e999, -1e999]}',
    "nan": '{"b": NaN, "c": [Infinity, -Infinity]}',
    "repeated keys": '{"b": 1, "b": 2}',
    "cut off": '{"b": [1, {"c": "',
    "brackets": "[]{}" * 5000,
    "openings": "[1," * 5000,
}
TABLES: list[dict[str, Any]] = [
    KEYS,
    VALUE,
    {"type": "json_schema", "root": "array", "required_keys": ["a"], "array_keys": ["b"], "min_items": 1},
    {"type": "json_schema", "expected_values": {"b": {"contains": "é"}, "b.0": {"regex": "^.+$"}, "c.-1": None}},
    {"type": "workflow_trace", "required_tools": ["a"], "expected_state": {"b": 1}, "replay": {"effects": {}}},
]


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("table", TABLES, ids=[f"{table['type']} {place}" for place, table in enumerate(TABLES)])
def test_odd_answers_are_wrong_answers(table: dict[str, Any], name: str) -> None:
    """No answer, however odd, makes a scorer raise; the verdict can be written as UTF-8 and as JSON."""
    found = score(table, RESPONSES[name])
    assert WRONG == verdict(found)
    assert found.reason in ("wrong_answer", "invalid_format", "no_response")
    (found.detail + json.dumps(found.about, allow_nan=False)).encode()


@pytest.mark.parametrize(
    "text",
    ["[" * 5_000_000, '{"a":' * 1_000_000, "[1," * 1_500_000, '{"b": 1}' * 600_000, '"[' * 2_500_000, "[x " * 9**7],
    ids=["open", "objects", "numbers", "many", "quotes", "prose"],
)  # fmt: skip
def test_five_megabytes_of_brackets(text: str) -> None:
    """A long text made to be read for ever is given up within seconds of CPU time."""
    begin = time.process_time()
    found = score(VALUE, text)
    assert time.process_time() - begin < 20
    assert WRONG == verdict(found)


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ('{"a": 1}', True),
        ('{"a": 1.0}', True),
        ('{"a": true}', False),
        ('{"a": "1"}', False),
        ('{"a": 1} trailing words', True),
        ('As [1] says: {"a": 1}', True),
        ('Use {"a"} and [x]. Then:\n~~~\n{"a": 1}\n~~~', True),
        ('First {"a": 2}, rather:\n```json\n{"a": 1}\n```', True),
        ('{"a": 2} or {"a": 1}', False),
        ('{"b": {"a": 1}}', False),
        ('{"a": 2, "a": 1}', True),
        ('"{\\"a\\": 1}"', False),
        ('\ufeff{"a": 1}', True),
        ("{'a': 1}", False),
    ],
)
def test_which_value_counts(text: str, passes: bool) -> None:
    """A fenced value comes before those in prose, of several the first counts; true is no 1, 1.0 is."""
    assert (RIGHT if passes else WRONG) == verdict(score(VALUE, text))


def test_first_value_of_the_right_shape() -> None:
    """What has not the shape is passed over; what has it is the answer, also where a later one would do."""
    table = {"type": "json_schema", "required_keys": ["a"], "expected_values": {"a": 1}}
    assert RIGHT == verdict(score(table, '{"note": 0} then {"a": 1}'))
    assert WRONG == verdict(score(table, '{"a": 2} then {"a": 1}'))
    rows = {"type": "json_schema", "root": "array", "min_items": 2}
    assert RIGHT == verdict(score(rows, "By [1]: [1, 2]"))


def test_repeated_keys_are_in_the_record() -> None:
    """Of a key that stands twice the last value counts, and the record names the key."""
    found = score(VALUE, '{"a": 2, "b": {"c": 1, "c": 1}, "a": 1}')
    assert (1.0, ["'c'", "'a'"]) == (found.score, found.about["repeated_keys"])
    assert {} == score(VALUE, '{"a": 1}').about


@pytest.mark.parametrize(
    ("table", "text", "words"),
    [
        ({"root": "array"}, '{"a": 1}', 'the answer is {"a": 1}, expected an array'),
        ({"root": "array", "min_items": 2}, "[1]", "the array has 1 items, expected at least 2"),
        ({"array_keys": ["a"]}, '{"a": "x"}', "a is 'x', expected an array"),
        ({"required_keys": ["b"]}, '{"a": 1}', "b is missing, expected as a key"),
        ({"root": "array", "required_keys": ["b"]}, '[{"b": 1}, {}]', "1.b is missing"),
        ({"root": "array", "required_keys": ["b"]}, "[3]", "item 0 is 3, expected an object with b"),
        ({"expected_values": {"a.0": "y"}}, '{"a": ["x "]}', "a.0 is 'x ', expected 'y'"),
        ({"expected_values": {"b": {"regex": "^x"}}}, '{"a": 1}', "b is missing, expected a match of '^x'"),
        ({"root": "array", "expected_items": [{"n": "S"}]}, '[{"n": "T"}]', 'no item is as expected: {"n": "S"}'),
        ({}, "none", "no JSON value in 'none'"),
    ],
)
def test_details_name_the_place(table: dict[str, Any], text: str, words: str) -> None:
    """What fails is named by its place, what stands there and what was expected."""
    found = score({"type": "json_schema", **table}, text)
    assert found.score == 0
    assert words in found.detail


def test_stages_come_in_order() -> None:
    """Shape before content: root, least number, arrays, keys, values, items; the first that fails is told."""
    table = {"type": "json_schema", "array_keys": ["b"], "required_keys": ["a"], "expected_values": {"c": 1}}
    assert "b is 1" in score(table, '{"b": 1}').detail
    assert "a is missing" in score(table, '{"b": [1]}').detail
    assert "c is missing" in score(table, '{"b": [1], "a": 0}').detail


@pytest.mark.parametrize(
    ("found", "wanted", "holds"),
    [
        ("Café in Köln", "cafe IN koln", True),
        ("Москва и Тверь", "тверь", True),
        ("Москва", "Тверь", False),
        ("東京と大阪", "大阪", True),
        ("東京", "大阪", False),
        (["東京"], "大阪", False),
        (["東京"], "東京", True),
        (["abc"], "日", False),
        ("abc", "\u200b", False),
        ("abc", "", False),
        ("abc", None, False),
        (["a"], [], False),
        ({"a": 1}, {}, False),
        ("a b", ["a", "b"], True),
        ("a b", ["a", "c"], False),
        ("items: 15", 5, True),
        (15, 5, False),
        ({"k": 1, "z": 2}, {"k": 1.0}, True),
        ({"k": True}, {"k": 1}, False),
        (["Cafe\u0301"], "Café", True),
        (["x1", "y"], [{"regex": "^X\\d"}, {"contains": "Y"}], True),
        (None, None, True),
        (MISSING, None, False),
    ],
)
def test_containing(found: Any, wanted: Any, holds: bool) -> None:
    """Needles of every script are found where they stand and nowhere else; one of nothing is found nowhere."""
    assert holds == contains(found, wanted)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b.1", "y"),
        ("a.b.-1", "y"),
        ("a.b.2", MISSING),
        ("a.b.x", MISSING),
        ("a.b.٠", MISSING),
        ("a.b.-3", MISSING),
        ("d.e", 1),
        ("d.e.f", 2),
        ("", MISSING),
        ("a.b.1.c", MISSING),
    ],
)
def test_paths(path: str, found: Any) -> None:
    """Paths lead through keys and indices; a key that holds dots itself can be reached."""
    assert found == at({"a": {"b": ["x", "y"]}, "d.e": 1, "d": {"e.f": 2}}, path)


def test_values_that_python_takes_for_equal() -> None:
    """True is no 1, at any depth; numbers are equal by value; a huge one and an infinite one are not."""
    assert same([{"a": 1}], [{"a": 1.0}])
    assert not same([{"a": 1}], [{"a": True}])
    assert not same(False, 0)
    assert not same(10**400, float("inf"))
    assert same({1: "x"}, {"1": "x"})


def test_regex_searches_the_text_of_a_value() -> None:
    """Ignoring case, in texts as they are and in anything else as JSON writes it."""
    assert matches({"regex": "^TRUE$"}, True)
    assert matches({"regex": "null"}, None)
    assert matches({"regex": '"k": "é"'}, {"k": "é"})
    assert not matches({"regex": "x", "contains": "x"}, "x")


def test_search_without_an_end_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that backtracks for ever is stopped; the answer is not blamed for it."""
    monkeypatch.setattr(matchers, "CPU_S", 0.2)
    table = {"type": "json_schema", "expected_values": {"a": {"contains": [{"regex": "(a|a)*c$"}]}}}
    found = score(table, json.dumps({"a": ["a" * 60 + "b"]}))
    assert (None, "grader_error") == (found.score, found.reason)
    assert "longer than 0.2 s" in found.detail


def test_simple_patterns_need_no_process() -> None:
    """A process of its own is only started for patterns that could take long."""
    forks: list[int] = []
    os.register_at_fork(before=lambda: forks.append(1))
    table = {"type": "json_schema", "expected_values": {"a": {"regex": "roadmap|slides"}}}
    assert RIGHT == verdict(score(table, '{"a": "the Slides"}'))
    assert [] == forks
    table["expected_values"] = {"a": {"regex": "s.*s"}}
    assert RIGHT == verdict(score(table, '{"a": "the Slides"}'))
    assert [1] == forks


def test_depth_that_is_read() -> None:
    """Values are read down to a depth that no sound answer reaches, and the smaller ones inside a deeper one."""
    at_limit = '{"a":' * (json_in_text.DEEPEST - 1) + "1" + "}" * (json_in_text.DEEPEST - 1)
    assert RIGHT == verdict(score(KEYS, at_limit))
    assert WRONG == verdict(score({**KEYS, "keys": ["b"]}, f'{{"b": {at_limit}}}'))
    assert RIGHT == verdict(score(KEYS, f'{{"b": {at_limit}}}'))
