"""Scoring types on texts and code: cases with known answers, and what we answer where the format's tool errs."""

import json
from pathlib import Path
from typing import Any

import pytest

from regrade.formats.suite import SuiteTask
from regrade.scorers.suite.assess import assess
from regrade.scorers.suite.logprob_choice import pick
from regrade.scorers.suite.scored import Response, Tools
from regrade.scorers.suite.thinking import split_thinking

VECTORS = Path(__file__).parent / "vectors" / "suite"
TYPES = (
    *("numeric", "exact", "contains", "contains_n", "multi_contains", "not_contains", "ends_with", "fuzzy_match"),
    *("word_count", "line_count", "regex", "logprob_choice", "code_exec"),
)
OURS: dict[str, float | None] = {
    # A sign is a sign, a hyphen none; commas group only thousands; decimals, powers and fractions are numbers.
    **dict.fromkeys(("numeric-020", "numeric-028", "numeric-041"), 0.0),
    **dict.fromkeys(("numeric-026", "numeric-035", "numeric-036", "numeric-040", "numeric-042", "numeric-043"), 1.0),
    **dict.fromkeys(("numeric-045", "numeric-058"), 1.0),
    **dict.fromkeys(("exact-027", "exact-031"), 1.0),
    "contains-012": 1.0,
    "contains-015": 1.0,
    "contains-016": 0.0,
    "contains-020": 0.0,
    "contains-029": 0.0,
    "multi_contains-006": 1.0,
    "not_contains-007": 0.0,
    "not_contains-008": 0.0,
    "ends_with-007": 1.0,
    "ends_with-010": 1.0,
    "ends_with-013": 0.0,
    "fuzzy_match-003": 0.0,
    "fuzzy_match-004": 0.0,
    "word_count-016": 0.0,
    "line_count-023": 1.0,
    **dict.fromkeys(("code_exec-016", "code_exec-018", "code_exec-021", "code_exec-061"), 1.0),
    "code_exec-037": 0.0,
    "code_exec-040": 0.0,
}
"""Our scores where the format's tool is wrong or surprises; docs/decisions.md says why."""


def cases(name: str) -> list[Any]:
    lines = (VECTORS / f"{name}.jsonl").read_text().splitlines()
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


def score(scoring: dict[str, Any], response: str, mode: str = "sandboxed", **fields: Any) -> Any:
    visible, thinking = split_thinking(response)
    task = SuiteTask("t", "s", {"category": "c", "prompt": "p", "scoring": scoring, **fields})
    return assess(task, [Response(visible, thinking)], Tools(mode))


@pytest.mark.parametrize("case", [case for name in TYPES for case in cases(name)])
def test_answers_are_scored_as_users_know_it(case: dict[str, Any]) -> None:
    """Every case keeps its score, but for those that are decided otherwise."""
    found = score(case["scoring"], case["response"], **case.get("task", {}))
    if case["id"] in OURS:
        assert case["questionable"]
        assert OURS[case["id"]] == found.score
        return
    assert (case["expected"]["score"], case["expected"]["passed"]) == (found.score, found.passed)


@pytest.mark.parametrize("case", cases("logprob_pick"))
def test_the_likeliest_token_is_picked(case: dict[str, Any]) -> None:
    """The text counts where no candidates came."""
    tops = case["top_logprobs"]
    response = Response(case["response"], top_logprobs=tops and [(token, value) for token, value in tops])
    assert case["expected"]["picked"] == pick(response)


def test_the_better_of_two_equal_tokens_counts() -> None:
    """Blanks around a token make it no other one."""
    assert "B" == pick(Response("", top_logprobs=[("B", -0.1), ("A", -1.0), (" B", -5.0)]))


@pytest.mark.parametrize("case", cases("strip_thinking"))
def test_thoughts_are_taken_off(case: dict[str, Any]) -> None:
    """Tags of the two families that are known; nested ones end together."""
    expected = "d" if case["id"] == "strip_thinking-011" else case["expected"]["text"]
    assert expected == split_thinking(case["response"])[0]


@pytest.mark.parametrize(
    ("response", "visible", "thinking"),
    [
        ("answer <think>and more", "answer", "and more"),
        ("thoughts first</think>answer", "answer", "thoughts first"),
        ('```python\ns = "<think>"\n```', '```python\ns = "<think>"\n```', ""),
        ("<think>```\ncode\n```</think>done", "done", "```\ncode\n```"),
        ("[THINKING]never closed", "[THINKING]never closed", ""),
        ("<THINK>A</thinking>b", "b", "A"),
    ],
)
def test_thoughts_and_text_are_told_apart(response: str, visible: str, thinking: str) -> None:
    """Text before an unclosed tag stays; inside a code fence a tag is text."""
    assert (visible, thinking) == split_thinking(response)


@pytest.mark.parametrize(
    ("value", "response", "passed"),
    [
        (11, "ANSWER: 711", False), (49, "ANSWER: 149", False), (-5, "it is 5", False), (1000, "1e3", True),
        (5, "the result is -5 exactly", False), (42, "It is 42!", True), (42, "(42).", True), (42, "**42**", True),
        (42, "42abc", False), ("60%", "20 of them left, ANSWER: 60%", True), ("28%", "28 pct", True),
        (29, "...the total is $29.00.", True), (1234567, "1\u202f234\u202f567", True), (1234567, "1234567.", True),
        (10080, r"10,\!080", True), (1234, "12,34", False), (12, "The coordinates are (1,2)", False),
        (35, "3,5", False), (1, "nan", False), (1, "inf", False), (42, "答えは42です", True),
        ("9/7", r"\dfrac{9}{7}", True),
        (5.4, r"5.4 \text{ cents}", True), (9, "9**9**9", True), (1, "1/0 is undefined", True), (7, "9" * 5000, False),
    ],
)  # fmt: skip
def test_numbers_are_read_and_compared_as_numbers(value: Any, response: str, passed: bool) -> None:
    """Never as texts, and never by running them."""
    assert passed is score({"type": "numeric", "value": value}, response).passed


@pytest.mark.parametrize(
    ("extra", "response", "passed"),
    [
        ({"extract": "first"}, "#### 18\n\nQuestion: ...\n#### 99", True),
        ({"extract": "last"}, "#### 18\n\nQuestion: ...\n#### 99", False),
        ({"extract": "unique"}, "18, or 19", False),
        ({"extract": "unique"}, "18. I am sure: 18", True),
        ({"extract": "boxed"}, r"first \boxed{3} ... finally \boxed{18}", True),
        ({"extract": "boxed"}, r"18 is \boxed{5", False),
        ({"extract": "json"}, 'It is {"answer": 18} of 20', True),
        ({"percent": "as_fraction", "value": 0.18}, "18%", True),
        ({"percent": "keep"}, "18%", False),
        ({"decimal": ",", "value": 1.8}, "1,8", True),
        ({"relative_tolerance": 0.1}, "17", True),
    ],
)
def test_a_task_says_how_its_number_is_found(extra: dict[str, Any], response: str, passed: bool) -> None:
    """Which of several counts, what a percent sign means, how decimals are written, how near is near enough."""
    assert passed is score({"type": "numeric", "value": 18, **extra}, response).passed


def test_other_numbers_beside_the_right_one_are_marked() -> None:
    """An answer that lists candidates passes as users know it, and its record says so."""
    assert {"ambiguous": True, "numbers": 3} == score({"type": "numeric", "value": 7}, "5, 6 or 7").about
    assert {} == score({"type": "numeric", "value": 7}, "It is 7: 7.").about


@pytest.mark.parametrize(
    ("value", "response"),
    [
        ("B", "ANSWER: $B$"), ("B", "ANSWER: **B**"), ("B", "Answer: (b)"), ("B", r"ANSWER: \boxed{\text{B}}"),
        ("B", "ANSWER: B) because..."), ("B", "Answer: this asks which is a colour\n...\nANSWER: b"), ("B", "(B)"),
        ("10", "Answer: 10"),
    ],
)  # fmt: skip
def test_a_choice_is_found_in_any_decoration(value: str, response: str) -> None:
    """The last line that says it is the answer counts."""
    assert score({"type": "exact", "value": value, "extract": "choice"}, response).passed


@pytest.mark.parametrize(
    ("value", "response", "passed"),
    [("1/2", r"\frac{1}{2}", True), ("0.5", r"$\frac{1}{2}$", True), ("x+1", "1+x", True), ("3", "4", False)],
)
def test_mathematics_is_compared_as_such(value: str, response: str, passed: bool) -> None:
    """By math-verify, where a task asks for it."""
    assert passed is score({"type": "exact", "value": value, "equality": "math"}, response).passed


@pytest.mark.parametrize(
    ("scoring", "response", "reason"),
    [
        ({"type": "exact", "value": "x"}, "", "no_response"),
        ({"type": "exact", "value": "x"}, "y", "wrong_answer"),
        ({"type": "numeric", "value": 1}, "none", "invalid_format"),
        ({"type": "regex", "pattern": "(a+)+$"}, "a" * 40 + "b", "grader_error"),
        ({"type": "regex", "pattern": "(a|a)*c$"}, "a" * 60 + "b", "grader_error"),
        ({"type": "nonsense"}, "x", "grader_error"),
    ],
)
def test_whatever_does_not_pass_says_why(scoring: dict[str, Any], response: str, reason: str) -> None:
    """In one line with a word for it; a search without an end is nobody's wrong answer."""
    found = score(scoring, response)
    assert reason == found.reason
    assert found.detail and "\n" not in found.detail


def test_an_invisible_difference_is_shown() -> None:
    """Blanks and line ends can be seen in the detail."""
    assert r"is 'a\tb', expected 'a b'" == score({"type": "exact", "value": "a b"}, "a\tb").detail


HOSTILE = [
    "\ud800",
    "\0",
    "9" * 100_000,
    "1," * 50_000,
    "<think>" * 20_000,
    "\\boxed{" * 20_000,
    "{" * 50_000,
    "```\n" * 20_000,
]


@pytest.mark.parametrize("response", HOSTILE, ids=lambda text: text[:8].encode("unicode_escape").decode())
@pytest.mark.parametrize(
    "kind", ["numeric", "exact", "contains", "ends_with", "fuzzy_match", "json_keys", "line_count"]
)
def test_no_answer_breaks_a_scorer(kind: str, response: str) -> None:
    """Whatever a model says, there is a verdict, and soon."""
    scoring = {"type": kind, "value": "42", "keys": ["a"], "extract": "choice" if kind == "exact" else "last"}
    assert score(scoring, response).status in ("failed", "passed")


@pytest.mark.parametrize(
    ("code", "score_", "reason"),
    [
        ("import os\nprint('PASS', flush=True)\nos._exit(0)", 0.0, "forged_result"),
        ("raise KeyboardInterrupt", 0.0, "tests_failed"),
        ("import atexit\natexit.register(print, 'PASS')\nraise SystemExit", 0.0, "forged_result"),
        ("def add(a, b):\n    return a + b\nprint = lambda *_: None", 0.5, "tests_failed"),
        ("class Any:\n    def __eq__(self, other):\n        return True\ndef add(a, b):\n    return Any()", 1.0, ""),
        ("while True: pass", 0.0, "tests_failed"),
    ],
)
def test_code_that_ends_early_has_not_passed(code: str, score_: float, reason: str) -> None:
    """Exit code 0 and PASS are not enough: the tests' own end must be reached. What tests believe is their affair."""
    scoring = {"type": "code_exec", "test_code": "assert add(2, 3) == 5\nprint('PASS')", "timeout": 2}
    found = score(scoring, f"```python\n{code}\n```")
    assert (score_, reason) == (found.score, found.reason)


@pytest.mark.parametrize(
    "answer",
    [
        "def add(a, b):\n    return a + b\n```",
        "```py\ndef add(a, b):\n    return a + b\n```",
        "Sure.\n~~~python\ndef add(a, b):\n    return a + b\n~~~\nDone.",
        '```python\ndef add(a, b):\n    """Like ```add```."""\n    return a + b\n```',
        "```def add(a, b): return a + b\n```",
        "```text\nnot this\n```\n\n```python  \r\ndef add(a, b):\r\n    return a + b\r\n```",
    ],
)
def test_the_code_of_an_answer_is_found(answer: str) -> None:
    """Whatever its fences are labelled, wherever they stand, and with fences inside its texts."""
    scoring = {"type": "code_exec", "test_code": "assert add(2, 3) == 5\nprint('PASS')"}
    assert 1.0 == score(scoring, answer).score


def test_code_is_not_run_where_that_is_off() -> None:
    """It is not run, which is no zero."""
    found = score({"type": "code_exec", "test_code": "print('PASS')"}, "```python\nx = 1\n```", "off")
    assert (None, "not_run", "code_not_allowed") == (found.score, found.status, found.reason)
