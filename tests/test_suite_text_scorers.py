"""Scoring types on texts and numbers where the known cases are silent: answers in any dress, wrong ones in none."""

import subprocess
import sys
import time
from typing import Any

import pytest

from regrade.scorers.suite import numbers
from regrade.scorers.suite.assess import TYPES
from regrade.scorers.suite.scored import Response
from suite_structured_support import score


def passes(scoring: dict[str, Any], response: str) -> bool | None:
    return score(scoring, response).passed


def numeric(value: Any, **more: Any) -> dict[str, Any]:
    return {"type": "numeric", "value": value, **more}


@pytest.mark.parametrize(
    ("value", "response", "passed"),
    [
        (11, "ANSWER: 711", False), (49, "ANSWER: 149", False), (-5, "it is 5", False), (3.14, "33.14", False),
        (-5, "the result is -5 exactly", True), (5, "the result is -5 exactly", False), (1000, "1e3.", True),
        (-5, "-$5.00", True), (-5, "$-5", True), (-5, "\N{EN DASH}5", True), (-0.75, "-3/4", True),
    ],
)  # fmt: skip
def test_numbers_are_compared_and_never_texts(value: Any, response: str, passed: bool) -> None:
    """Neither the end of a longer number nor one without its sign is the number."""
    assert passed is passes(numeric(value, extract="last"), response)


@pytest.mark.parametrize(
    "response",
    ["It is 42!", "(42).", "[42]", "**42**", "42:", "`42`", "_42_", "__42__", "x=42", "#42", "42km", "42 km/h", "42cm²",
     "42nd", "42-year-old", "US$42", "€42", "42€", "42руб.", "42°C", "答えは42です", "+42", "42.0", "forty-two (42)"],
)  # fmt: skip
def test_a_number_is_seen_whatever_touches_it(response: str) -> None:
    """Punctuation, emphasis, currencies, units, and letters of scripts without blanks."""
    assert passes(numeric(42, extract="unique"), response)


@pytest.mark.parametrize("response", ["42abc", "abc42", "v42", "x_42", "m^42", "CO42", "4242", "42e", "1.42", "42/43"])
def test_what_only_holds_the_digits_is_no_number(response: str) -> None:
    """Names, exponents of letters, and parts of other numbers."""
    assert not passes(numeric(42, extract="unique"), response)


@pytest.mark.parametrize(
    ("value", "mode", "response", "passed"),
    [
        ("60%", "strip", "20 of them left, ANSWER: 60%", True), (20, "strip", "20 of them left, ANSWER: 60%", False),
        ("28%", "strip", "28 pct", True), ("28%", "strip", "28 percent", True), ("28%", "strip", "28 per cent", True),
        ("28%", "strip", r"$\boxed{28 \text{ percent}}$", True), ("28%", "strip", r"28\%", True),
        (60, "strip", "60%", True), ("60%", "strip", "60", True), ("60%", "keep", "60%", True),
        ("60%", "keep", "60", False), (60, "keep", "60%", False), ("60%", "keep", r"\boxed{60 \text{ percent}}", True),
        ("60%", "keep", "60\N{FULLWIDTH PERCENT SIGN}", True), (0.6, "as_fraction", "60%", True),
        ("60%", "as_fraction", "0.6", True), (60, "as_fraction", "60%", False),
    ],
)  # fmt: skip
def test_a_percent_sign_means_what_the_task_says(value: Any, mode: str, response: str, passed: bool) -> None:
    """All ways to write one are alike; without a word about it, it means nothing."""
    assert passed is passes(numeric(value, percent=mode, extract="last"), response)


def test_only_a_number_with_the_sign_is_looked_at_where_it_must_be_kept() -> None:
    """The same number without it does not stand in its way."""
    assert passes(numeric("60%", percent="keep"), "60 of them are 60%")


@pytest.mark.parametrize(
    ("value", "response", "passed"),
    [
        (29, "...the total is $29.00.", True), (1234567, "1,234,567", True), (1234567, "1\u202f234\u202f567", True),
        (1234567, "1\u2009234\u2009567", True), (1234567, "1_234_567", True), (1234567, "1'234’567", True),
        (1234567, "1234567.", True), (10080, r"10,\!080", True), (10080, "10{,}080", True), (10080, r"10\,080", True),
        (1234, "12,34", False), (12, "The coordinates are (1,2)", False), (35, "3,5", False), (3.5, "3,5", False),
        (12345, "12,345,6", False), (1234, "5,1,234", False), (12, "1\\;2", False),
    ],
)  # fmt: skip
def test_commas_group_thousands_or_part_numbers(value: Any, response: str, passed: bool) -> None:
    """A grouping that is none is a list, and never glued together."""
    assert passed is passes(numeric(value), response)


@pytest.mark.parametrize(
    ("value", "response", "passed"),
    [(3.5, "3,5", True), (1234.5, "1.234,5", True), ("3,5", "3,5", True), ("3.5", "3,5", True), (35, "3,5", False),
     (3, "Es sind 3.", True)],
)  # fmt: skip
def test_a_decimal_comma_is_read_where_the_task_says_so(value: Any, response: str, passed: bool) -> None:
    """In answers, and in an expected text."""
    assert passed is passes(numeric(value, decimal=",", extract="unique"), response)


@pytest.mark.parametrize(
    ("value", "response"),
    [
        (0.75, "the answer is 3/4"), (0.75, r"\frac{3}{4}"), (0.75, r"\frac34"), (-0.75, r"-\dfrac{3}{4}"),
        (0.5, "½"), (1.5, "1½ cups"), (1.5, "1 1/2 cups"), (1.5, r"1\frac{1}{2}"), (1000, "10^3"), (0.001, "10⁻³"),
        (1024, "2^{10}"), (-4, "-2^2"), (602000, "6.02 × 10⁵"), (602000, r"6.02 \times 10^{5}"), (602000, "6.02e+5"),
        ("3/4", "0.75"), (r"\frac{3}{4}", ".75"), ("$1,000", "1000"),
    ],
)  # fmt: skip
def test_a_fraction_and_a_power_are_one_number(value: Any, response: str) -> None:
    """Their parts are no answers, where the task says which number is."""
    for how in ("first", "last", "unique"):
        assert passes(numeric(value, extract=how), response)


def test_parts_of_a_fraction_count_where_any_number_may() -> None:
    """As they do for users of the format; the record says that there was a choice."""
    found = score(numeric(18), "She had 18/20 right")
    assert (True, {"ambiguous": True, "numbers": 3}) == (found.passed, found.about)
    assert not passes(numeric(18, extract="last"), "She had 18/20 right")


@pytest.mark.parametrize(
    ("value", "more", "response", "passed"),
    [
        (0.3, {"tolerance": 0.1}, "0.4", True), (0.3, {"tolerance": 0.1}, "0.2", True),
        (1.1, {"tolerance": 0.1}, "1.2", True),
        (0.3, {"tolerance": 0.1}, "0.41", False), (1.1, {"relative_tolerance": 0.1}, "1.21", True),
        (1, {"relative_tolerance": 1e-6}, "0.999999999", True), (0, {"relative_tolerance": 1e-6}, "1e-12", False),
        (0.3, {}, "0.30000000000000004", False), (10, {"tolerance": -1}, "10", False),
        (10, {"tolerance": "x"}, "10", False),
        (1, {"tolerance": 1e300}, "nan", False), (1, {"tolerance": 1e300}, "inf", False), ("nan", {}, "nan", False),
        ("inf", {}, "inf", False), (float("nan"), {"tolerance": 1}, "1", False), (True, {}, "1", False),
        ([42], {}, "42", False),
    ],
)  # fmt: skip
def test_tolerances_are_exact_and_inclusive(value: Any, more: dict[str, Any], response: str, passed: bool) -> None:
    """Held against the decimals as they were written; what is no finite number equals nothing."""
    assert passed is passes(numeric(value, **more), response)


@pytest.mark.parametrize(
    "response", ["9**9**9", "9^9^9^9", "10^(10^9)", "10^999999999", "1e999999999", "(10^400)^400", "2^-999999999",
                 "1/0", "9" * 5000, "__import__('os').system('id')", "factorial(2000000)", "0^-1", "1" + "0" * 10_000],
)  # fmt: skip
def test_monstrous_numbers_are_not_worked_out(response: str) -> None:
    """Nothing is evaluated, and what is too long to read is no answer."""
    start = time.process_time()
    assert not passes(numeric(42), response)
    assert time.process_time() - start < 2


def test_too_many_numbers_are_no_answer() -> None:
    """An answer that lists everything is told so, in little memory."""
    found = score(numeric(42), "42 " * (numbers.MOST + 1))
    assert ("failed", "invalid_format") == (found.status, found.reason)


@pytest.mark.parametrize(
    ("values", "more", "response", "passed"),
    [
        ([1331, 1728], {}, "1728", False), ([1331, 1728], {}, "1728 and 1331", True),
        ([3, 5, 7], {"extract": "boxed"}, r"\boxed{3}, \boxed{5}, \boxed{7}", True),
        ([3, 5, 7], {"extract": "boxed"}, r"3, 5, \boxed{7}", False),
        ([3, 5], {"extract": "boxed"}, r"\boxed{3, 5}", True),
        ([1], {"extract": "boxed"}, r"so \boxed{1}. Indeed \boxed{1}.", True),
        ([3, 5], {"extract": "unique"}, "3, 5, 7", False), ([3, 5], {}, "3, 5, 7", True),
        ([3, 5], {"extract": "last"}, "of 9: 5, 3", True), ([3, 5], {"extract": "json"}, '{"answer": [5, 3]}', True),
        ([0.5, 2], {"tolerance": 0.01}, "x = 1/2 or x = 2.005", True), ([], {}, "3", False), (["x", 3], {}, "3", False),
    ],
)  # fmt: skip
def test_all_of_several_values_must_be_found(
    values: list[Any], more: dict[str, Any], response: str, passed: bool
) -> None:
    """In any order; where `extract` picks, no other may stand among them."""
    assert passed is passes({"type": "numeric", "values": values, **more}, response)


def test_values_beside_those_expected_are_marked() -> None:
    """Without `extract` they are no fault, and the record has them."""
    found = score({"type": "numeric", "values": [3, 5]}, "3, 5 or 7")
    assert {"ambiguous": True, "numbers": 3} == found.about


def test_one_box_twice_is_one_answer() -> None:
    """What is repeated is not two answers."""
    assert passes(numeric(1, extract="boxed"), r"so \boxed{1}. Indeed \boxed{1}.")
    assert passes(numeric(1, extract="unique"), r"so \boxed{1}. Indeed \boxed{1}.")


@pytest.mark.parametrize(
    ("kind", "value", "response", "passed"),
    [
        ("contains", "Москва", "Это МОСКВА.", True), ("contains", "東京", "答えは東京です", True),
        ("contains", "한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8", True), ("contains", "Αθήνα", "ΑΘΗΝΑ", True),
        ("contains", "ёлка", "Елка", True), ("contains", "й", "и", False), ("contains", "が", "か", False),
        ("contains", "Łódź", "lodz", True), ("contains", "Ørsted", "Orsted", True),
        ("contains", "Straße", "STRASSE", True),
        ("contains", "İstanbul", "istanbul", True), ("contains", "paris", "𝐏𝐚𝐫𝐢𝐬", True),
        ("contains", "Paris", "Ｐａｒｉｓ", True),
        ("contains", "CO2", "CO₂", True), ("contains", "5-6", "5–6", True),
        ("contains", "new york", "New\u00a0York", True),
        ("contains", "\u0301", "x", False), ("contains", "\u200b", "x", False), ("contains", "Париж", "Москва", False),
        ("fuzzy_match", "東京都", "東京", True), ("fuzzy_match", "東京都", "ロンドン", False),
        ("fuzzy_match", "Москва", "москва!", True),
        ("ends_with", "кот", "Это кот.", True), ("ends_with", "кот", "Это скот.", False),
        ("ends_with", "東京", "それは東京。", True),
        ("ends_with", "done", "It is “done”…", True), ("ends_with", "done", "done ✅", True),
        ("ends_with", "C++", "C", False),
        ("ends_with", "C++", "I use C++", True), ("exact", "cafe\u0301", "café", True),
        ("exact", "café", "cafe", False),
        ("exact", "STRASSE", "straße", True), ("exact", "hola\n", "hola", True), ("exact", "hola\r\n", "hola", True),
        ("logprob_choice", "я", "Я", True),
    ],
)  # fmt: skip
def test_answers_of_every_script_are_compared(kind: str, value: str, response: str, passed: bool) -> None:
    """Case, width and composition never count, accents only where they make another letter."""
    assert passed is passes({"type": kind, "value": value}, response)


@pytest.mark.parametrize(
    ("scoring", "response", "passed"),
    [
        ({"values": ["Москва", "Лондон"]}, "Москва", False),
        ({"values": ["Москва", "Лондон"]}, "Лондон и Москва", True),
        ({"groups": [["Москва", "Moscow"], ["東京"]]}, "Moscow, 東京", True), ({"values": ["\u0301"]}, "x", False),
    ],
)  # fmt: skip
def test_no_needle_matches_everything(scoring: dict[str, Any], response: str, passed: bool) -> None:
    """Each of several must be there, in any script."""
    assert passed is passes({"type": "multi_contains", **scoring}, response)


@pytest.mark.parametrize("response", ["МОСКВА", "Мос\u200bква"])
def test_what_is_forbidden_is_found_in_every_script(response: str) -> None:
    """Also where a sign that nobody sees stands inside it."""
    assert not passes({"type": "not_contains", "forbidden": ["Москва"]}, response)


def test_an_answer_wins_over_a_value() -> None:
    """Where a task has both."""
    for kind in ("exact", "contains", "contains_n", "ends_with", "fuzzy_match", "logprob_choice"):
        assert passes({"type": kind, "answer": "yes", "value": "nope"}, "yes")
        assert not passes({"type": kind, "answer": "nope", "value": "yes"}, "yes")
    assert passes(numeric(7, answer=42), "42")


@pytest.mark.parametrize(
    ("pattern", "response", "passed"),
    [
        (r"^ok$", "ok\n", True),
        (r"HOME.*Work", "home\nand WORK", True),
        (r"^b$", "a\nb", False),
        (r"(a+)+$", "aaa", True),
    ],
)
def test_a_pattern_is_searched_with_case_aside_and_dots_for_line_ends(
    pattern: str, response: str, passed: bool
) -> None:
    """`^` and `$` stand for the ends of the whole answer."""
    assert passed is passes({"type": "regex", "pattern": pattern}, response)


@pytest.mark.parametrize(
    ("scoring", "response", "status", "reason"),
    [
        ({"type": "exact", "value": "x"}, Response(""), "failed", "no_response"),
        ({"type": "numeric", "value": 1}, Response(""), "failed", "no_response"),
        ({"type": "regex", "pattern": "x"}, Response("", "thoughts"), "failed", "no_response"),
        ({"type": "exact", "value": "x"}, Response("", truncated=True), "failed", "truncated"),
        ({"type": "exact", "value": "x"}, Response("y", truncated=True), "failed", "truncated"),
        ({"type": "exact", "value": "x"}, Response("x", truncated=True), "passed", ""),
        ({"type": "exact", "value": "x"}, Response("no", declined=True), "failed", "refusal"),
        ({"type": "exact", "value": "x"}, Response("y"), "failed", "wrong_answer"),
        ({"type": "numeric", "value": 1}, Response("none"), "failed", "invalid_format"),
        ({"type": "logprob_choice", "value": "B"}, Response("A", truncated=True), "failed", "wrong_answer"),
        ({"type": "exact", "value": "x"}, Response("", error="the server is down"), "error", "provider_error"),
        ({"type": "nonsense"}, Response("x"), "error", "grader_error"),
    ],
)
def test_every_end_has_its_reason(scoring: dict[str, Any], response: Response, status: str, reason: str) -> None:
    """An empty answer, one cut off, one declined and a wrong one are told apart, each in one line."""
    found = score(scoring, response)
    assert (status, reason) == (found.status, found.reason)
    assert found.detail and "\n" not in found.detail and len(found.detail) <= 500


def test_blanks_that_make_the_difference_can_be_seen() -> None:
    """In what was answered and in what was expected."""
    assert r"is 'a\u200d\tb', expected 'a\xa0b'" == score({"type": "exact", "value": "a\u00a0b"}, "a\u200d\tb").detail


TEXT_TYPES = (
    *("numeric", "exact", "contains", "contains_n", "multi_contains", "not_contains", "ends_with", "fuzzy_match"),
    *("word_count", "line_count", "logprob_choice"),
)
HOSTILE = {
    "surrogates": "\ud800" * 100_000, "nul": "\0" * 100_000, "digits": "1" * 1_000_000, "lists": "1," * 200_000,
    "fractions": "1/" * 200_000, "halves": "½" * 200_000, "powers": "10^" * 200_000, "boxes": "\\boxed{" * 100_000,
    "braces": "{" * 500_000, "brackets": "[" * 500_000, "answers": "answer: " * 100_000,
    "stars": "answer: " + "*" * 500_000, "blanks": " \n" * 500_000 + "x", "fence": "```\n" + " " * 500_000,
    "marks": "a" + "\u0301" * 200_000, "tags": "<think></think>" * 50_000, "opened": "<think>" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_no_answer_breaks_a_scorer_or_keeps_it_busy(name: str) -> None:
    """Whatever a model says, every text scorer has a verdict within seconds."""
    start = time.process_time()
    for kind in TEXT_TYPES:
        more = {"values": ["42"]} if kind == "multi_contains" else {"forbidden": ["42"], "min": 3}
        for how in (None, "first", "last", "unique", "boxed", "choice", "json") if kind == "exact" else (None,):
            scoring = {"type": kind, "value": 42, **more, "extract": how}
            assert score(scoring, HOSTILE[name]).status in ("passed", "failed")
    assert time.process_time() - start < 20


ODD_KEYS = (
    *("value", "values", "groups", "forbidden", "min", "max", "min_count", "tolerance", "relative_tolerance"),
    *("decimal", "percent", "extract"),
)


@pytest.mark.parametrize("odd", [None, True, -1, 1e400, [], [[1]], {"a": 1}, "", "\ud800", "x" * 1000])
def test_no_scoring_table_breaks_a_scorer(odd: Any) -> None:
    """What a task holds in place of an expected value, a bound or a pattern ends in a verdict or an error."""
    for kind in TEXT_TYPES:
        found = score({"type": kind, **dict.fromkeys(ODD_KEYS, odd)}, "x 42 y")
        assert found.detail and " raised " not in found.detail


def test_types_are_loaded_by_name() -> None:
    """Each that there is has its module, and only what is asked for is loaded."""
    script = (
        "import sys; from regrade.scorers.suite.assess import TYPES\n"
        "print([name for name in TYPES if 'regrade.scorers.suite.' + name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout
    assert "agent_loop" in TYPES and len(set(TYPES)) == 21


MATHEMATICS = [
    ("9/7", r"\dfrac{9}{7}", True), ("5.4", r"5.4 \text{ cents}", True), ("864", r"864 \mbox{ inches}^2", True),
    ("[-2,7]", r"x \in [-2,7]", True), ("12", r"12^{\text{th}}", True), ("east", r"\text{East}", True),
    ("{3,5,7}", r"\boxed{3}, \boxed{5}, \boxed{7}", True), ("{1331,1728}", "1728", False),
    (r"2\sqrt{2}", r"\sqrt{8}", True),
    ("x^2+2x+1", "(x+1)^2", True), ("5", "", False), ("5", "1/0", False), ("5", "__import__('os').system('id')", False),
]  # fmt: skip


@pytest.mark.parametrize(("value", "response", "passed"), MATHEMATICS)
def test_mathematics_is_compared_by_its_meaning(value: str, response: str, passed: bool) -> None:
    """In whatever LaTeX it is written, units and all."""
    pytest.importorskip("math_verify", reason="math-verify is not installed (pip install 'regrade[math]')")
    assert passed is passes({"type": "exact", "value": value, "equality": "math"}, response)


@pytest.mark.parametrize("scoring", [{"type": "exact", "value": "1/2"}, numeric("1/2")])
def test_without_its_package_mathematics_is_not_judged(scoring: dict[str, Any]) -> None:
    """An error that says what to install, not a wrong answer."""
    script = (
        "import sys; sys.path.insert(0, 'tests'); sys.modules['math_verify'] = None\n"
        "from suite_structured_support import score\n"
        f"found = score({scoring | {'equality': 'math'}!r}, '0.5')\n"
        "print(found.status, found.reason, found.detail)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("error grader_error ") and "pip install" in done.stdout
