"""Thoughts and answers told apart, where the known cases are silent."""

import json
import time

import pytest

from regrade.formats.suite.answer import response_of
from regrade.scorers.suite.scored import Response
from regrade.scorers.suite.thinking import split_thinking
from suite_structured_support import score


@pytest.mark.parametrize(
    ("response", "visible", "thinking"),
    [
        ("<think>a</think>b", "b", "a"), ("<THINK>a</Thinking>b", "b", "a"), ("<thinking>a</think>b", "b", "a"),
        ("[Thinking]a[/THINKING]b", "b", "a"), ("<think>\n\n</think>\n\n42", "42", ""),
        ("x <think>a</think> y <think>b</think> z", "x  y  z", "a\nb"),
        ("<think>a<think>b</think>c</think>d", "d", "a<think>b</think>c"),
        ("[THINKING]a[THINKING]b[/THINKING]c", "c", "a[THINKING]b"),
        ("<think>`x` in\n```\ncode\n```\n</think>`y`", "`y`", "`x` in\n```\ncode\n```"),
    ],
)  # fmt: skip
def test_thoughts_are_taken_off(response: str, visible: str, thinking: str) -> None:
    """In any case, as often as they come, and whatever stands in them."""
    assert (visible, thinking) == split_thinking(response)


@pytest.mark.parametrize(
    ("response", "visible", "thinking"),
    [
        ("<think>still at it", "", "still at it"), ("42 <think>or is it", "42", "or is it"),
        ("[THINKING]a", "[THINKING]a", ""),
        ("so it is 4</think>5", "5", "so it is 4"), ("İ" * 40 + "</think>b", "b", "İ" * 40),
        ("<think>a</think>b</think>c", "b</think>c", "a"), ("<think >a</think>b", "<think >a</think>b", ""),
    ],
)  # fmt: skip
def test_half_a_pair_of_tags_is_read_by_what_models_do(response: str, visible: str, thinking: str) -> None:
    """Text before an unclosed tag stays; a first closing one ends what the model's template began."""
    assert (visible, thinking) == split_thinking(response)


@pytest.mark.parametrize(
    "response",
    [
        '```python\ns = "<think>"\n```', '~~~\n<think>\n~~~\nDone.', "````\n```\n</think>\n````", "```\n<think>",
        '```python\r\ns = "<think>"\r\n```\r\nDone.', "Put it between `<think>` and `</think>`.",
        "- item\n  ```\n  [THINKING]\n  ```",
    ],
)  # fmt: skip
def test_tags_in_code_are_text(response: str) -> None:
    """Between fences and between backticks."""
    assert (response.strip(), "") == split_thinking(response)


def test_a_line_of_code_between_backticks_opens_no_fence() -> None:
    """What follows is no code."""
    assert ("```x```  8", "7") == split_thinking("```x``` <think>7</think> 8")


def test_thoughts_behind_a_closed_fence_are_thoughts() -> None:
    """A fence ends with as many marks as it began with, and no label."""
    assert ("````\n```py\n<think>\n```\n````\nb", "a") == split_thinking(
        "````\n```py\n<think>\n```\n````\n<think>a</think>b"
    )


@pytest.mark.parametrize(
    ("response", "reason"),
    [("<think>8", "no_response"), ("<think>is it 8?</think>", "no_response"), ("<think>8</think>9", "wrong_answer")],
)
def test_what_was_only_thought_is_no_answer(response: str, reason: str) -> None:
    """An answer that never came is told from a wrong one."""
    found = score({"type": "numeric", "value": 8}, response)
    assert (False, reason) == (found.passed, found.reason)


def test_thoughts_that_were_cut_off_are_truncated() -> None:
    """Nothing before the tag, and the token limit hit."""
    visible, thinking = split_thinking("<think>8, I think, as")
    assert "truncated" == score({"type": "numeric", "value": 8}, Response(visible, thinking, truncated=True)).reason


@pytest.mark.parametrize(("thinking", "visible"), [("tags", "s ="), ("none", "s = <think>")])
def test_tags_are_text_where_the_model_s_entry_says_so(thinking: str, visible: str) -> None:
    """`thinking: none` leaves every answer as it came."""
    reply = {"choices": [{"message": {"content": "s = <think>"}, "finish_reason": "stop"}]}
    row = {"status": "ok", "adapter": "openai-chat", "reply": json.dumps(reply)}
    assert visible == response_of(row, thinking).text


@pytest.mark.parametrize(
    "response",
    ["<think>" * 200_000, "</think>" * 200_000, "[THINKING]" * 200_000, "[THINKING]" * 200_000 + "[/THINKING]",
     "<think></think>" * 100_000, "`<think>`" * 100_000, "```\n" * 200_000, "`" * 1_000_000, "<think " * 200_000,
     "\ud800\0" * 200_000],
    ids=lambda text: ascii(text[:12]),
)  # fmt: skip
def test_no_answer_takes_long_to_split(response: str) -> None:
    """The time grows with the length alone."""
    start = time.process_time()
    split_thinking(response)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("<think>the `<think>` tag</think>Paris. <think>more</think> ok", "Paris.  ok"),
        ("<think>the <think> tag</think>Paris. It is closed by `</think>`.", "Paris. It is closed by `</think>`."),
        ("<think>a <think> b</think> Paris <think>c</think> end", "Paris  end"),
        ("<think><think><think>a</think>b</think> Paris", "Paris"),
        ("<think>a <think>b</think> c <think>d</think> e</think> Paris", "Paris"),
    ],
)
def test_thoughts_that_speak_of_tags_end_where_they_end(text: str, visible: str) -> None:
    """What stands between two thoughts is the answer, also where tags do not pair."""
    assert visible == split_thinking(text)[0]
