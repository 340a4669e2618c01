"""Replies in every shape that servers give them are read as what they mean."""

import json

import pytest

from chat_server import USAGE, delta, event
from models_support import ask_scripted, fail_scripted
from regrade.models.message import mend, strip_thinking
from regrade.models.sse import EventReader
from regrade.models.types import ChatRequest, Usage

CALL = {"id": "c1", "type": "function", "function": {"name": "execute_code", "arguments": '{"code": "1"}'}}
CALLED = [{"id": "c1", "name": "execute_code", "arguments": '{"code": "1"}'}]


def whole(message: dict, **choice: object) -> list[dict]:
    """A script of one reply that is not streamed."""
    return [{"body": {"choices": [{"index": 0, "message": message, **choice}], "usage": USAGE}}]


@pytest.mark.parametrize("stream", [True, False])
def test_plain_answer(stream: bool) -> None:
    """Text, counts and the reason for the end come back the same, streamed or whole."""
    response = ask_scripted([{"text": "four", "reasoning": "2+2"}], stream=stream)
    assert ("four", "2+2", "stop", Usage(10, 2), 1, False) == (
        response.text,
        response.reasoning,
        response.finish_reason,
        response.usage,
        response.attempts,
        response.cached,
    )
    assert (response.timing.ttft_s is not None) == stream


def test_event_stream_with_comments_and_both_line_ends() -> None:
    """Comments and unknown fields are skipped, and the last event counts without a blank line behind it."""
    first = json.dumps({"choices": [{"index": 0, "delta": {"content": "four"}}]})
    chunks = [":\n\n: keepalive\n\nretry: 3\n\n", f"data:{first}\r\n\r\n", "event: x\ndata: [DONE]"]
    response = ask_scripted([{"chunks": chunks}])
    assert ("four", None, [first, "[DONE]"]) == (response.text, response.finish_reason, response.raw)


def test_every_cut_of_a_stream_reads_the_same() -> None:
    """Events do not depend on where the network cut the bytes, not inside a character or a line end either."""
    stream = "data: café\r\n\r\n: x\r\ndata: a\r\ndata:b\n\nid: 1\ndata: \u2028😀\r\rdata: end".encode()
    for place in range(len(stream) + 1):
        reader = EventReader()
        events = reader.feed(stream[:place]) + reader.feed(stream[place:]) + reader.finish()
        assert ["café", "a\nb", "\u2028😀", "end"] == events


def test_character_cut_between_chunks() -> None:
    """A character whose bytes come in two reads arrives whole."""
    data = delta({"content": "café"}).replace("\\u00e9", "é").encode()
    place = data.index(b"\xc3") + 1
    chunks = [{"hex": data[:place].hex()}, {"hex": data[place:].hex()}, delta({}, "stop")]
    assert "café" == ask_scripted([{"chunks": chunks, "chunk_delay_s": 0.02}]).text


def test_surrogate_pair_in_two_chunks() -> None:
    """A pair that a server split is joined; a lone half becomes a replacement character."""
    chunks = [delta({"content": "\ud83d"}), delta({"content": "\ude00"}), delta({}, "stop")]
    assert "😀" == ask_scripted([{"chunks": chunks}]).text
    assert "a\ufffd" == mend("a\ud83d")


def test_events_without_blank_lines_between() -> None:
    """Two events that a server ran together are read as two."""
    chunks = [delta({"content": "a"}).replace("\n\n", "\n"), delta({"content": "b"}, "stop")]
    assert "ab" == ask_scripted([{"chunks": chunks}]).text


@pytest.mark.parametrize("reason", ["stop", "end_turn", None, ""])
def test_tool_calls_whatever_the_finish_reason(reason: str | None) -> None:
    """Tool calls count under any finish_reason, which is kept as it is."""
    response = ask_scripted(whole({"content": None, "tool_calls": [CALL]}, finish_reason=reason), stream=False)
    assert (CALLED, reason, "", False) == (
        response.tool_calls,
        response.finish_reason,
        response.text,
        response.empty_content,
    )


def test_streamed_tool_calls() -> None:
    """Arguments in pieces are joined; a new id begins a new call even under the same index."""
    pieces = [
        {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "execute_code", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"code": '}}]},
        {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "execute_code", "arguments": '"1"}'}}]},
        {"tool_calls": [{"index": 0, "id": "c2", "function": {"name": "stop", "arguments": "{}"}}]},
    ]
    response = ask_scripted([{"chunks": [*(delta(piece) for piece in pieces), delta({}, ""), event("[DONE]")]}])
    assert [*CALLED, {"id": "c2", "name": "stop", "arguments": "{}"}] == response.tool_calls


def test_odd_tool_calls() -> None:
    """Arguments as an object, a missing id, a null entry and the old function_call are read."""
    odd = [None, {"function": {"name": "f", "arguments": {"a": 1}}}, {"index": 0, "function": {"name": "g"}}]
    response = ask_scripted(whole({"tool_calls": odd, "function_call": {"name": "h", "arguments": ""}}), stream=False)
    expected = [("call_0", "f", '{"a": 1}'), ("call_1", "g", ""), ("call_2", "h", "")]
    assert expected == [(call["id"], call["name"], call["arguments"]) for call in response.tool_calls]


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": None, "reasoning_content": "so 8"}, "", "so 8"),
        ({"content": "", "reasoning": "so 8"}, "", "so 8"),
        ({"content": "8", "reasoning": "so", "reasoning_details": [{"text": "so"}]}, "8", "so"),
        ({"content": "8", "reasoning_details": [{"text": "a"}, {"data": "e"}, {"summary": "b"}]}, "8", "ab"),
        ({"content": [{"type": "text", "text": "8"}, {"type": "text", "text": "9"}]}, "89", ""),
        ({"content": [{"type": "thinking", "thinking": [{"text": "so"}]}, {"type": "text", "text": "8"}]}, "8", "so"),
        ({"content": 8}, "", ""),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_content_and_reasoning_are_kept_apart(message: dict, text: str, reasoning: str, stream: bool) -> None:
    """Null content, parts and all names for reasoning are read; an answer without content is flagged."""
    script = [{"chunks": [delta(message), delta({}, "stop")]}] if stream else whole(message, finish_reason="stop")
    response = ask_scripted(script, stream=stream)
    assert (text, reasoning, text == "") == (response.text, response.reasoning, response.empty_content)


def test_truncated_refused_and_filtered_answers_are_visible() -> None:
    """The token limit and both ways to decline can be told from an ordinary answer."""
    assert ask_scripted([{"text": "half", "finish_reason": "length"}]).truncated
    assert not ask_scripted([{"text": "half"}]).truncated
    assert ask_scripted(whole({"content": None, "refusal": "I will not"}), stream=False).declined
    assert "no" == ask_scripted([{"chunks": [delta({"refusal": "no"}), delta({}, "stop")]}]).refusal
    assert ask_scripted([{"text": "", "finish_reason": "content_filter"}]).declined


def test_running_usage_totals() -> None:
    """Of counts that grow from chunk to chunk the last holds; null is unknown, not 0."""
    usages = [{"prompt_tokens": 9, "completion_tokens": count} for count in (1, 2, 3)]
    chunks = [*(delta({"content": "x"}, usage=usage) for usage in usages), delta({}, "stop", usage=None)]
    assert Usage(9, 3) == ask_scripted([{"chunks": chunks}]).usage
    nothing = [delta({"content": "x"}, usage=None), delta({}, "stop", usage=None), event("[DONE]")]
    assert Usage() == ask_scripted([{"chunks": nothing}]).usage


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage()),
        ({"prompt_tokens": True, "completion_tokens": "3"}, Usage()),
        ({"input_tokens": 5, "output_tokens": 0}, Usage(5, 0)),
        (
            {"prompt_tokens": 5, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 3}},
            Usage(5, 4, None, 3),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 4,
                "total_tokens": 12,
                "completion_tokens_details": {"reasoning_tokens": 3},
                "prompt_tokens_details": {"cached_tokens": 2},
            },
            Usage(5, 7, 2, 3),
        ),
    ],
)
def test_usage_of_a_whole_reply(usage: dict, expected: Usage) -> None:
    """Counts are read under their names; reasoning that stands beside the output is counted into it once."""
    assert expected == ask_scripted([{"text": "x", "usage": usage}], stream=False).usage


@pytest.mark.parametrize(
    ("words", "usage", "expected"),
    [
        (8000, {"prompt_tokens": 2050, "completion_tokens": 5}, "counted 2050 tokens of at least about 8000"),
        (3000, {"prompt_tokens": 4000, "completion_tokens": 96}, "exactly 4096 tokens"),
        (8000, {"prompt_tokens": 8011, "completion_tokens": 5}, None),
        (8000, None, None),
    ],
)
def test_prompt_cut_by_the_server(words: int, usage: dict | None, expected: str | None) -> None:
    """A prompt count far below the prompt, or at a usual limit, is a warning in the response."""
    request = ChatRequest([{"role": "user", "content": "word " * words}])
    warnings = ask_scripted([{"text": "x", "usage": usage}], request).warnings
    assert (expected is None) == (not warnings)
    assert (expected or "") in "".join(warnings)


@pytest.mark.parametrize("kind", ["text/plain", "application/octet-stream"])
def test_stream_under_a_wrong_content_type(kind: str) -> None:
    """A reply is known by its content when its type is wrong or the other form was asked for."""
    assert "hi" == ask_scripted([{"chunks": [delta({"content": "hi"}, "stop")], "content_type": kind}]).text
    assert "hi" == ask_scripted(whole({"content": "hi"}), stream=True).text
    assert "hi" == ask_scripted([{"chunks": [delta({"content": "hi"}, "stop")]}], stream=False).text


def test_thinking_is_stripped_only_if_asked() -> None:
    """With strip_thinking a leading think part becomes reasoning; without it the text stays as it is."""
    script = [{"text": "<think>2+2</think>\n\n4"}]
    assert "<think>2+2</think>\n\n4" == ask_scripted(script).text
    stripped = ask_scripted(script, strip_thinking=True)
    assert ("4", "2+2") == (stripped.text, stripped.reasoning)
    assert ("", "cut off") == strip_thinking("<think> cut off")
    assert ("4", "no opening") == strip_thinking("no opening</think>4")
    assert ("say <think> aloud", "") == strip_thinking("say <think> aloud")


def test_stream_that_stays_open_after_done() -> None:
    """After [DONE] nothing is waited for."""
    chunks = [delta({"content": "hi"}, "stop") + event("[DONE]"), ": still here\n\n"]
    assert ask_scripted([{"chunks": chunks, "chunk_delay_s": 1}]).timing.wall_s < 0.9


def test_server_that_never_hangs_up() -> None:
    """A server that has given its finish_reason and then falls silent has answered; the silence is no working time."""
    chunks = [delta({"content": "hi"}, "stop"), ": still here\n\n"]
    response = ask_scripted([{"chunks": chunks, "chunk_delay_s": 1}], max_retries=0, read_timeout_s=0.3)
    assert ("hi", True) == (response.text, response.timing.wall_s < 0.3)


def test_deeply_nested_reply() -> None:
    """JSON nested beyond reason is a bad reply, not a crash."""
    error, _ = fail_scripted([{"body": "[" * 100_000, "content_type": "application/json"}], max_retries=0)
    assert "bad_body" == error.kind
