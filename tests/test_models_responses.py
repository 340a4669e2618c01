"""The Responses protocol: what is sent, and what its replies are read as."""

from typing import Any

import pytest

from chat_server import ChatServer, event
from models_support import HELLO, ask, ask_scripted, fail_scripted, model
from regrade.models import protocols
from regrade.models.types import ChatRequest, ChatResponse, Usage

ADAPTER = {"adapter": "openai-responses"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "four"}]}
BOTH = pytest.mark.parametrize("stream", [True, False])


def script(output: list[dict], status: str = "completed", **more: Any) -> list[dict]:
    """A script of one whole reply."""
    return [{"body": {"object": "response", "status": status, "error": None, "output": output, **more}}]


def read(output: list[dict], status: str = "completed", **more: Any) -> ChatResponse:
    """What a whole reply is read as."""
    return ask_scripted(script(output, status, **more), **ADAPTER, stream=False)


def sent(chat: ChatRequest, **entry: Any) -> tuple[str, dict]:
    """Where a request goes, and with which body."""
    with ChatServer() as server:
        response = ask(model(server.base_url, **ADAPTER, **{"stream": False, **entry}), chat)
        (seen,) = server.requests
    assert seen["body"] == response.request_body
    return seen["path"], seen["body"]


def test_a_conversation_becomes_input_items() -> None:
    """System, examples, pictures, calls and what they brought are sent in the protocol's own form."""
    picture = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "https://h/a.png"}}]
    messages = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "u1"},
        {"role": "assistant", "content": "a1"},
        {"role": "user", "content": picture},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    path, body = sent(ChatRequest(messages, {"max_tokens": 50}, [TOOL]))
    shown = [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "https://h/a.png"}]
    assert "/v1/responses" == path
    assert {
        "model": "m",
        "stream": False,
        "instructions": "be brief",
        "input": [
            {"role": "user", "content": "u1"},
            {"role": "assistant", "content": "a1"},
            {"role": "user", "content": shown},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'},
            {"type": "function_call_output", "call_id": "c1", "output": "done"},
        ],
        "max_output_tokens": 50,
        "tools": [{"type": "function", "strict": False, **TOOL["function"]}],
        "tool_choice": "auto",
        "parallel_tool_calls": False,
    } == body


def test_parameters_stand_where_the_protocol_has_them() -> None:
    """Our words go to their places, beside what the entry says in the server's own form, and win over it."""
    settings = {"reasoning": {"effort": "low", "summary": "auto"}, "max_output_tokens": 9, "temperature": 0}
    words = {"reasoning_effort": "high", "text_verbosity": "low", "max_tokens": 5, "temperature": None}
    _, body = sent(ChatRequest(HELLO.messages, words), request=settings)
    rest = {key: value for key, value in body.items() if key not in ("model", "input", "stream")}
    reasoning = {"effort": "high", "summary": "auto"}
    assert {"reasoning": reasoning, "text": {"verbosity": "low"}, "max_output_tokens": 5} == rest
    assert {"effort": "low", "summary": "auto"} == settings["reasoning"]


@BOTH
def test_plain_answer(stream: bool) -> None:
    """Text, thoughts, calls, counts and the ending come back the same, streamed or whole."""
    answer = {"text": "four", "reasoning": "2+2", "tool_calls": [CALL], "model": "served"}
    response = ask_scripted([answer], **ADAPTER, stream=stream)
    assert ("four", "2+2", "stop", Usage(10, 2), "served") == (
        response.text,
        response.reasoning,
        response.finish_reason,
        response.usage,
        response.served_model,
    )
    assert [{"id": "c1", "name": "f", "arguments": '{"a": 1}'}] == response.tool_calls
    assert (response.timing.ttft_s is not None) == stream


@BOTH
def test_the_token_limit_is_visible(stream: bool) -> None:
    """An answer that ended at its budget is truncated, also one that holds nothing but thoughts."""
    assert ask_scripted([{"text": "half", "finish_reason": "length"}], **ADAPTER, stream=stream).truncated
    only = {"reasoning": "so", "text": "", "tool_calls": [], "finish_reason": "length"}
    response = ask_scripted([only], **ADAPTER, stream=stream)
    assert (True, True, "so") == (response.truncated, response.empty_content, response.reasoning)


def test_endings_and_refusals() -> None:
    """The filter's ending and a refusal can be told from an answer; other endings stay as they are."""
    cut = {"incomplete_details": {"reason": "content_filter"}}
    assert read([], "incomplete", **cut).declined
    assert "odd" == read([SAID], "incomplete", incomplete_details={"reason": "odd"}).finish_reason
    refused = read([{"type": "message", "content": [{"type": "refusal", "refusal": "I will not"}]}])
    assert ("I will not", "", True) == (refused.refusal, refused.text, refused.declined)


def test_hidden_reasoning_is_counted() -> None:
    """Reasoning and cached tokens stand under their names."""
    details = {"output_tokens_details": {"reasoning_tokens": 7}, "input_tokens_details": {"cached_tokens": 3}}
    usage = read([SAID], usage={"input_tokens": 5, "output_tokens": 9, **details}).usage
    assert Usage(5, 9, 3, 7) == usage


@pytest.mark.parametrize(
    ("item", "thoughts"),
    [
        ({"summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]}, "a\nb"),
        ({"summary": [], "content": [{"type": "reasoning_text", "text": "all"}]}, "all"),
        ({"summary": None}, ""),
        ({}, ""),
    ],
)
def test_thoughts(item: dict, thoughts: str) -> None:
    """Thoughts are read from a summary or, where the server shows them, whole."""
    assert thoughts == read([{"type": "reasoning", **item}, SAID]).reasoning


def test_candidates_for_the_first_token() -> None:
    """With `logprobs` the candidates are asked for, and read from the text's part."""
    tops = [{"token": "B", "logprob": -0.5}, {"token": "A", "logprob": -2}]
    part = {"type": "output_text", "text": "B", "logprobs": [{"token": "B", "logprob": -0.5, "top_logprobs": tops}]}
    assert [("B", -0.5), ("A", -2.0)] == read([{"type": "message", "content": [part]}]).top_logprobs
    _, body = sent(ChatRequest(HELLO.messages, {"logprobs": True, "top_logprobs": 5}))
    assert (["message.output_text.logprobs"], 5, None) == (body["include"], body["top_logprobs"], body.get("logprobs"))


def test_a_stream_whose_last_event_is_empty() -> None:
    """Where the last event does not repeat the output, items and then pieces are what counts."""
    ending = event({"type": "response.completed", "response": {"status": "completed", "output": []}})
    item = event({"type": "response.output_item.done", "item": SAID})
    pieces = [event({"type": "response.output_text.delta", "delta": part}) for part in ("fo", "ur")]
    for chunks in ([item, ending], [*pieces, ending], [*pieces, item, ending, event("[DONE]")]):
        assert "four" == ask_scripted([{"chunks": chunks}], **ADAPTER).text


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        ({"chunks": [event({"type": "response.output_text.delta", "delta": "fo"})]}, "stream_cut"),
        ({"chunks": [event({"type": "error", "code": "server_error", "message": "busy"})]}, "error_body"),
        ({"chunks": [event({"type": "response.failed", "response": {"error": {"message": "no"}}})]}, "error_body"),
        ({"chunks": [event({"type": "response.completed"})]}, "bad_body"),
        ({"chunks": [event([1])]}, "bad_body"),
        ({"body": {"error": {"message": "overloaded"}}}, "error_body"),
        ({"body": {"status": "completed", "output": []}}, "bad_body"),
        ({"body": {"status": "completed", "output": None}}, "bad_body"),
        ({"body": {"status": "in_progress", "output": [SAID]}}, "bad_body"),
        ({"body": [1]}, "bad_body"),
    ],
)
def test_replies_that_are_no_answer(broken: dict, kind: str) -> None:
    """A cut stream, an error inside a reply and a reply without output are asked again, never empty answers."""
    assert "four" == ask_scripted([broken, {"text": "four"}], **ADAPTER).text
    error, count = fail_scripted([broken], **ADAPTER, max_retries=0)
    assert (kind, True, 1) == (error.kind, error.retryable, count)


@pytest.mark.parametrize("odd", [None, 7, "text", [None], [7], [{"type": "output_text"}], [{"text": {"text": "x"}}]])
def test_odd_content(odd: Any) -> None:
    """Content of any shape is no crash."""
    assert isinstance(read([{"type": "message", "content": odd}, {"type": "function_call"}, SAID]).text, str)


def test_refused_parameters_are_left_out_where_they_stand() -> None:
    """A server that names `reasoning.effort` gets the rest of `reasoning`; the record says what was left out."""
    what = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
    refusal = {"status": 400, "body": {"error": {"message": what, "param": "reasoning.effort"}}}
    also = {"status": 400, "body": {"error": {"message": "unknown parameter: 'text.verbosity'"}}}
    words = {"reasoning_effort": "high", "reasoning_summary": "auto", "text_verbosity": "low"}
    with ChatServer([refusal, also, {"text": "four"}]) as server:
        response = ask(model(server.base_url, **ADAPTER, max_retries=0), ChatRequest(HELLO.messages, words))
        last = server.requests[-1]["body"]
    assert ({"summary": "auto"}, None) == (last["reasoning"], last.get("text"))
    assert last == response.request_body
    assert ["reasoning.effort", "text.verbosity"] == response.dropped_parameters
    assert "parameter reasoning.effort was refused by the server and left out" == response.warnings[0]


@BOTH
def test_a_kept_reply_says_the_same(stream: bool, tmp_path) -> None:
    """The raw reply alone is read as the same answer, and the store gives it back as it was."""
    with ChatServer([{"text": "four", "reasoning": "r", "tool_calls": [CALL]}]) as server:
        config = model(server.base_url, **ADAPTER, stream=stream)
        first, again = ask(config, folder=tmp_path), ask(config, folder=tmp_path)
        assert 1 == server.count
    answer = protocols.of("openai-responses").answer_of(first.raw)
    assert {name: getattr(first, name) for name in vars(answer)} == vars(answer)
    assert {**vars(first), "cached": True} == vars(again)


def test_protocols_do_not_answer_for_each_other(tmp_path) -> None:
    """The same words under another protocol are another request, and a conversation's steps share a folder."""
    with ChatServer() as server:
        responses = [
            ask(model(server.base_url, adapter=adapter, stream=False), folder=tmp_path)
            for adapter in protocols.CONVERSATIONS
        ]
        assert 3 == server.count
        entry = model(server.base_url, **ADAPTER)
        other = [*HELLO.messages, {"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]
        steps = [ask(entry, ChatRequest(messages)).digest for messages in (HELLO.messages, other)]
    assert 3 == len({response.digest for response in responses})
    assert (2, 1) == (len(set(steps)), len({digest[:2] for digest in steps}))
