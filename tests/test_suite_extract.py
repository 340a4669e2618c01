"""`extract`: how a task says where in a response its answer stands."""

from typing import Any

import pytest

from regrade.scorers.suite import choices, extract
from suite_structured_support import score


def is_exactly(value: Any, how: str, response: str) -> bool | None:
    return score({"type": "exact", "value": value, "extract": how}, response).passed


@pytest.mark.parametrize(
    "response",
    [
        "B", "b.", "(B)", "**B**", "- B", "B) Paris", "B. Paris", "**B. Paris**", "(B) Paris", "B: Paris", "#### B",
        "Ｂ", "（B）",
        "ANSWER: $B$", "ANSWER: **B**", "**Answer:** B", "**Answer**: B", "Answer: (b)", "Answer: ‘B’",
        "Answer: <b>B</b>",
        r"ANSWER: \boxed{\text{B}}", r"$\boxed{B}$", r"\boxed{\textbf{(B)}\ 12}", r"so \boxed{\mathrm{B}}", r"\(B\)",
        "ANSWER: B) because...", "Answer: B, since A is too small", "The answer is: \n\nB",
        "Answer: B. Option A is wrong.",
        "The correct answer is (B) Paris.",
        "Therefore, the answer is option B.",
        "The answer is the letter B", "My choice is B",
        "B is the correct answer.", "Option B is right; option A is wrong", "I choose B.", "A) x\nB) y\n\nB", "**B",
        "Answer: this asks which is a colour\n...\nANSWER: b", "Answer: A? No.\nAnswer: B",
        "The answer is a tough call; I pick B",
        "Réponse : B", "Antwort: B", "Ответ: B", "答案：B", "答案是B。", "Answer → B",
    ],
)  # fmt: skip
def test_an_option_is_found_in_any_decoration(response: str) -> None:
    """The last line that says it is the answer counts, else what is said to be right, else what stands alone."""
    assert ["B"] == choices.named(response)
    assert is_exactly("B", "choice", response)


@pytest.mark.parametrize(
    "response",
    [
        "Answer: B or C", "The options are A, B, C and D.", "A) no\nB) no\nC) no", "Answer: not B",
        "The answer isn't B", "Bébé", "",
        "A cat sat there.", "D'accord", "The answer is a tough call", "The answer is I think unclear",
        "options are many", "B\nC", "3.14",
        "Answer: 3.14", "Answers: none", "option A, option B", "A is not correct",
    ],
)  # fmt: skip
def test_an_answer_that_names_no_option_has_none(response: str) -> None:
    """Nor one that leaves a choice, or holds the word `a` alone."""
    assert [] == choices.named(response)


@pytest.mark.parametrize(
    ("value", "response", "passed"),
    [
        ("A,B,C", "Answer: A, B, and C", True), ("A, B, C", "A,B,C,", True), (["A", "B"], "Answer: B, A", True),
        ("A/C", "The answer is both A and C.", True), ("A", "Answer: A, B, and C", False),
        ("A,B,C", "Answer: A, B", False),
        ("A", "The answer is (A) and (B) is wrong.", True), ("A", "Answer: A, a bird", True),
        ("10", "Answer: 10", True),
        ("1", "Answer: 10", False), ("C", "The answer is C because option A is wrong.", True), ("a", "Answer: A", True),
    ],
)  # fmt: skip
def test_several_options_are_all_of_them(value: Any, response: str, passed: bool) -> None:
    """In any order and no other; a list is no way to name one."""
    assert passed is is_exactly(value, "choice", response)


@pytest.mark.parametrize(
    ("response", "inside"),
    [
        (r"\[ \boxed{\frac{1}{2}} \]", r"\frac{1}{2}"), (r"\boxed{\text{E}}", "E"),
        (r"first \boxed{3} ... finally \boxed{4}", "4"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"), (r"\boxed{a\}}", r"a\}"), (r"\boxed{\boxed{5}}", "5"), (r"\fbox{ 4 }", "4"),
        (r"\boxed{\text{a} + \text{b}}", r"\text{a} + \text{b}"), (r"\boxed{\text{a {b} c}}", "a {b} c"),
        (r"\boxed{}", ""),
        (r"\boxed{5", None), (r"first \boxed{3}, then \boxed{5", None), ("5", None), ("}", None),
    ],
)  # fmt: skip
def test_the_last_box_counts_if_it_is_whole(response: str, inside: str | None) -> None:
    """With the braces in it; one that was cut off is no answer, nor is the one before it."""
    assert inside == extract.boxed(response)


@pytest.mark.parametrize(
    ("value", "more", "response"),
    [("1/2", {}, r"\[ \boxed{\frac{1}{2}} \]"), (4, {}, r"first \boxed{3} ... finally \boxed{4}"),
    ("28%", {"percent": "keep"}, r"\boxed{28\%}")],
)  # fmt: skip
def test_a_number_is_read_in_its_box(value: Any, more: dict[str, Any], response: str) -> None:
    """And nowhere else."""
    assert score({"type": "numeric", "value": value, "extract": "boxed", **more}, response).passed
    assert not score(
        {"type": "numeric", "value": value, "extract": "boxed", **more}, response.replace("boxed", "mathbf")
    ).passed


@pytest.mark.parametrize(
    ("how", "response", "answer"),
    [
        ("first", "Paris\nIt is nice there.", "Paris"), ("last", "It is nice there.\n\nParis\n", "Paris"),
        ("unique", "Paris", "Paris"),
        ("unique", "Paris\nor not", None), ("first", "**Answer:** Paris", "Paris"),
        ("last", "So:\n**The final answer is: Paris**", "Paris"),
        ("last", "#### Paris", "Paris"), ("first", "Answer the call", "Answer the call"),
        ("first", "Option pricing", "Option pricing"),
        ("first", " \n", None), ("closest", "a\nb", "a\nb"), (None, "a\nb", "a\nb"),
    ],
)  # fmt: skip
def test_a_line_is_the_answer(how: str | None, response: str, answer: str | None) -> None:
    """Without what only says that it is the answer."""
    assert answer == extract.text(response, how)


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ('{"answer": "Paris"}', "Paris"), ('He said "hello": {"answer": "Paris"}', "Paris"), ('"Paris"', "Paris"),
        ("42", "42"), ("true", "true"),
        ('```json\n"Paris"\n```', "Paris"), ('```json\n{"value": 4.50}\n```', "4.5"),
        ('{"a": "é"} {"answer": 2}', '{"a": "é"}'),
        ('[3, 5]', "[3, 5]"), ('{"result": ["x"]}', '["x"]'), ("Paris", None), ('{"answer": ', None),
        ("[" * 100_000, None), ('{"a":' * 100_000, None),
    ],
    ids=lambda text: str(text)[:20],
)  # fmt: skip
def test_the_first_json_value_is_the_answer(response: str, answer: str | None) -> None:
    """Texts as they are; words in quotes within prose are no JSON."""
    assert answer == extract.from_json(response)


TABLES: list[dict[str, Any]] = [
    *({"type": kind, "value": "x"} for kind in ("exact", "contains", "contains_n", "ends_with", "fuzzy_match")),
    {"type": "multi_contains", "values": ["x"]}, {"type": "not_contains", "forbidden": ["x"]},
    {"type": "regex", "pattern": "^$|x"}, {"type": "numeric", "value": 1},
]  # fmt: skip


@pytest.mark.parametrize("scoring", TABLES, ids=lambda scoring: scoring["type"])
@pytest.mark.parametrize("how", ["boxed", "choice", "json"])
def test_an_answer_that_is_not_where_it_should_be_is_none(scoring: dict[str, Any], how: str) -> None:
    """It has the wrong format, whatever else the response holds."""
    found = score({**scoring, "extract": how}, "neither one\nnor the other")
    assert (0.0, "invalid_format") == (found.score, found.reason)
