"""The candidates for an answer's first token, as chat completions bring them."""

from typing import Any

import pytest

from chat_server import delta
from models_support import ask_scripted
from regrade.models import protocols
from regrade.models.message import top_logprobs

TOPS = [{"token": "B", "logprob": -0.5, "bytes": [66]}, {"token": " A", "logprob": -2}]
CONTENT = {"content": [{"token": "B", "logprob": -0.5, "top_logprobs": TOPS}, {"token": "x", "top_logprobs": []}]}
EXPECTED = [("B", -0.5), (" A", -2.0)]


@pytest.mark.parametrize("stream", [True, False])
def test_first_token(stream: bool) -> None:
    """The first token's candidates are read, streamed or whole, and read again from the raw reply."""
    message = {"index": 0, "message": {"content": "Bx"}, "finish_reason": "length", "logprobs": CONTENT}
    later = {"content": [{"token": "x", "top_logprobs": [{"token": "x", "logprob": -1}]}]}
    pieces = [{"index": 0, "delta": {"content": "B"}, "logprobs": CONTENT}, {"index": 0, "delta": {"content": "x"}}]
    pieces[1]["logprobs"] = later
    chunks = [*(delta({}, choices=[piece]) for piece in pieces), delta({}, "length")]
    script: dict[str, Any] = {"chunks": chunks} if stream else {"body": {"choices": [message]}}
    response = ask_scripted([script], stream=stream)
    assert EXPECTED == response.top_logprobs
    assert EXPECTED == protocols.of("openai-chat").answer_of(response.raw).top_logprobs


@pytest.mark.parametrize(
    ("logprobs", "expected"),
    [
        (None, None),
        ({}, None),
        ({"content": None}, None),
        ({"content": []}, None),
        ({"content": [None]}, None),
        ({"content": [{"token": "B", "logprob": -1}]}, None),
        ({"content": [{"top_logprobs": []}]}, []),
        ({"tokens": ["B"], "top_logprobs": [{"B": -0.5, " A": -2}]}, EXPECTED),
        ({"tokens": [], "top_logprobs": []}, None),
        (7, None),
        ([7], None),
    ],
)
def test_shapes(logprobs: Any, expected: list | None) -> None:
    """Servers of the older form are understood; what cannot be read is None, and no candidates are an empty list."""
    assert expected == top_logprobs(logprobs)


@pytest.mark.parametrize("number", [None, "x", True, float("nan"), float("inf"), -float("inf"), 10**400])
def test_numbers_that_are_none(number: Any) -> None:
    """A candidate whose log-probability is no finite number is left out; a lone surrogate is mended."""
    tops = [{"token": "a", "logprob": number}, {"token": "\ud83d", "logprob": -1}, {"token": 7, "logprob": -1}, None]
    assert [("\ufffd", -1.0)] == top_logprobs({"content": [{"top_logprobs": tops}]})
