"""Ollama's chat protocol: what is sent, and what its replies are read as."""

import json
from typing import Any

import pytest

from chat_server import ChatServer
from models_support import HELLO, ask, ask_scripted, fail_scripted, model
from regrade.errors import NotApplicable
from regrade.models import ollama_chat, protocols
from regrade.models.types import ChatRequest, Usage

ADAPTER = {"adapter": "ollama-chat"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
BOTH = pytest.mark.parametrize("stream", [True, False])


def line(content: str = "", done: bool = False, **more: Any) -> str:
    """One line of a stream."""
    return json.dumps({"message": {"role": "assistant", "content": content}, "done": done, **more}) + "\n"


def sent(chat: ChatRequest, **entry: Any) -> tuple[str, dict]:
    """Where a request goes, and with which body."""
    with ChatServer() as server:
        response = ask(model(server.base_url, **ADAPTER, **{"stream": False, **entry}), chat)
        (seen,) = server.requests
    assert seen["body"] == response.request_body
    return seen["path"], seen["body"]


def test_a_conversation_in_its_form() -> None:
    """Pictures stand beside the text, arguments are objects, and a result bears its tool's name."""
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}]
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    path, body = sent(ChatRequest(messages, tools=[{"type": "function", "function": {"name": "f"}}]))
    assert "/api/chat" == path
    assert {
        "model": "m",
        "stream": False,
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "see", "images": ["QUJD"]},
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
            {"role": "tool", "content": "done", "tool_name": "f"},
        ],
        "tools": [{"type": "function", "function": {"name": "f"}}],
    } == body


def test_arguments_that_are_no_object() -> None:
    """A call whose arguments cannot be read is sent back without them."""
    broken = {"id": "c", "function": {"name": "f", "arguments": "{oops"}}
    _, body = sent(ChatRequest([{"role": "assistant", "content": None, "tool_calls": [broken]}, *HELLO.messages]))
    assert {"function": {"name": "f", "arguments": {}}} == body["messages"][0]["tool_calls"][0]


def test_parameters_stand_among_the_options() -> None:
    """Our words go to their places, beside what the entry says in the server's own form."""
    settings = {"options": {"num_ctx": 8192, "num_predict": 9}, "keep_alive": "5m"}
    words = {"max_tokens": 5, "temperature": 0, "top_p": 0.9, "top_k": 3, "repetition_penalty": 1.1, "seed": 7}
    _, body = sent(ChatRequest(HELLO.messages, {**words, "thinking": False}), request=settings)
    options = {"num_ctx": 8192, "num_predict": 5, "temperature": 0, "top_p": 0.9, "top_k": 3, "repeat_penalty": 1.1}
    assert {**options, "seed": 7} == body["options"]
    assert (False, "5m") == (body["think"], body["keep_alive"])


@BOTH
def test_plain_answer(stream: bool) -> None:
    """Text, thoughts, calls, counts and the ending come back the same, streamed or whole."""
    answer = {"text": "four", "reasoning": "2+2", "tool_calls": [CALL, CALL], "model": "served"}
    response = ask_scripted([answer], **ADAPTER, stream=stream)
    assert ("four", "2+2", "stop", Usage(10, 2), "served") == (
        response.text,
        response.reasoning,
        response.finish_reason,
        response.usage,
        response.served_model,
    )
    calls = [{"id": f"call_{place}", "name": "f", "arguments": '{"a": 1}'} for place in (0, 1)]
    assert calls == response.tool_calls
    assert (response.timing.ttft_s is not None) == stream
    assert ask_scripted([{"text": "ha", "finish_reason": "length"}], **ADAPTER, stream=stream).truncated


def test_calls_in_several_lines() -> None:
    """Each line of a stream brings whole calls."""
    calls = [{"function": {"name": name, "arguments": {"a": name}}} for name in ("f", "g")]
    lines = [json.dumps({"message": {"content": "", "tool_calls": [call]}, "done": False}) + "\n" for call in calls]
    response = ask_scripted([{"chunks": [*lines, line(done=True)]}], **ADAPTER)
    assert ["f", "g"] == [call["name"] for call in response.tool_calls]


def test_lines_cut_anywhere() -> None:
    """A line and a character that come in two reads arrive whole."""
    data = line("café", done=True).replace("\\u00e9", "é").encode()
    place = data.index(b"\xc3") + 1
    chunks = [{"hex": data[:place].hex()}, {"hex": data[place:].hex()}]
    assert "café" == ask_scripted([{"chunks": chunks, "chunk_delay_s": 0.02}], **ADAPTER).text


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/octet-stream"])
@BOTH
def test_lines_under_a_wrong_content_type(kind: str, stream: bool) -> None:
    """A reply is known by its content when its type is wrong or the other form was asked for."""
    script = {"chunks": [line("fo"), line("ur", done=True)], "content_type": kind}
    assert "four" == ask_scripted([script], **ADAPTER, stream=stream).text


def test_candidates_for_the_first_token() -> None:
    """Log-probabilities are asked for beside the options, and read from the reply or from a stream's first line."""
    _, body = sent(ChatRequest(HELLO.messages, {"logprobs": True, "top_logprobs": 5, "max_tokens": 1}))
    assert (True, 5, {"num_predict": 1}) == (body["logprobs"], body["top_logprobs"], body["options"])
    first = {"logprobs": [{"token": "B", "logprob": -0.5, "top_logprobs": [{"token": "B", "logprob": -0.5}]}]}
    for chunks in ([line("B", **first), line(done=True)], [line("B", done=True, **first)]):
        assert [("B", -0.5)] == ask_scripted([{"chunks": chunks}], **ADAPTER).top_logprobs


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        ({"chunks": [line("fo")]}, "stream_cut"),
        ({"chunks": [line("fo"), '{"error": "model runner stopped"}\n']}, "error_body"),
        ({"chunks": ["{oops\n"]}, "bad_body"),
        ({"chunks": ['{"done": true}\n']}, "bad_body"),
        ({"body": {"error": "model is loading"}}, "error_body"),
        ({"body": {"message": {"content": "fo"}}}, "stream_cut"),
        ({"body": {"message": None, "done": True}}, "bad_body"),
        ({"body": "<html>busy</html>"}, "bad_body"),
    ],
)
def test_replies_that_are_no_answer(broken: dict, kind: str) -> None:
    """A cut stream, an error inside a reply and a reply without a message are asked again, never empty answers."""
    assert "four" == ask_scripted([broken, {"text": "four"}], **ADAPTER).text
    error, count = fail_scripted([broken], **ADAPTER, max_retries=0)
    assert (kind, True, 1) == (error.kind, error.retryable, count)


@pytest.mark.parametrize(
    "odd",
    [{"content": None}, {"content": 7}, {"thinking": [1]}, {"tool_calls": 7}, {"tool_calls": [None, {"function": 1}]}],
)
def test_odd_messages(odd: dict) -> None:
    """A message of any shape is no crash, and unknown counts are none."""
    body = {"message": odd, "done": True, "prompt_eval_count": "x", "eval_count": None}
    assert Usage() == ask_scripted([{"body": body}], **ADAPTER, stream=False).usage


def test_thinking_that_is_refused_is_left_out() -> None:
    """A model that cannot think is asked without, and the record says so; what is said of tools means the tools."""
    refusal = {"status": 400, "body": {"error": '"m" does not support thinking'}}
    with ChatServer([refusal, {"text": "four"}]) as server:
        response = ask(model(server.base_url, **ADAPTER), ChatRequest(HELLO.messages, {"thinking": True}))
        assert [True, None] == [seen["body"].get("think") for seen in server.requests]
    assert ["parameter think was refused by the server and left out"] == response.warnings
    tools = {"status": 400, "body": {"error": '"m" does not support tools'}}
    error, _ = fail_scripted([tools], ChatRequest(HELLO.messages, tools=[{"function": {"name": "f"}}]), **ADAPTER)
    assert "tools" == error.kind


def test_a_picture_on_the_web_is_not_applicable() -> None:
    """The protocol takes no addresses: nobody is asked."""
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "https://h/a.png"}}]
    with ChatServer() as server:
        with pytest.raises(NotApplicable, match=r"https://h/a\.png is an address"):
            ask(model(server.base_url, **ADAPTER), ChatRequest([{"role": "user", "content": parts}]))
        assert 0 == server.count


@pytest.mark.parametrize("base", ["", "http://localhost:11434", "http://localhost:11434/", "http://localhost:11434/v1"])
def test_addresses(base: str) -> None:
    """Without an address it is Ollama's usual one; the address of its other protocol is understood."""
    assert "http://localhost:11434/api/chat" == ollama_chat.url(base)


@BOTH
def test_a_kept_reply_says_the_same(stream: bool, tmp_path) -> None:
    """The raw reply alone is read as the same answer, and the store gives it back as it was."""
    with ChatServer([{"text": "four", "reasoning": "r", "tool_calls": [CALL]}]) as server:
        config = model(server.base_url, **ADAPTER, stream=stream)
        first, again = ask(config, folder=tmp_path), ask(config, folder=tmp_path)
        assert 1 == server.count
    answer = protocols.of("ollama-chat").answer_of(first.raw)
    assert {name: getattr(first, name) for name in vars(answer)} == vars(answer)
    assert {**vars(first), "cached": True} == vars(again)
