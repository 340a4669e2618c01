"""A call that brings no answer ends in one clear error, and is tried again only where that can help."""

import asyncio
import socket
import time
from email.utils import formatdate

import pytest

from chat_server import ChatServer, delta, event
from models_support import HELLO, ask, ask_scripted, fail_scripted, model
from regrade.models import failures
from regrade.models.backoff import read_retry_after
from regrade.models.client import open_client
from regrade.models.run import run
from regrade.models.types import ChatRequest, ProviderError
from regrade.store import Store

HALF = [delta({"content": "ha"}), delta({"content": "lf"})]


@pytest.mark.parametrize(
    ("broken", "kind"),
    [
        ({"chunks": HALF}, "stream_cut"),
        ({"chunks": HALF, "cut": True}, "stream_cut"),
        ({"chunks": [delta({"content": "a"}), event({"error": {"message": "overloaded"}})]}, "error_body"),
        ({"chunks": [event({"choices": []}), event("[DONE]")]}, "bad_body"),
        ({"chunks": ["data: {oops\n\n"]}, "bad_body"),
        ({"body": {"error": {"message": "overloaded"}}}, "error_body"),
        ({"body": {"error": "overloaded"}}, "error_body"),
        ({"body": {"choices": []}}, "bad_body"),
        ({"body": {"choices": None}}, "bad_body"),
        ({"body": {"choices": [{"message": None}]}}, "bad_body"),
        ({"body": [1]}, "bad_body"),
        ({"body": "<html>busy</html>"}, "bad_body"),
        ({"body": ""}, "bad_body"),
        ({"body": '{"choices": [{"mess', "content_type": "application/json", "cut": True}, "stream_cut"),
        ({"status": 502, "body": "<html>Bad Gateway</html>"}, "http"),
        ({"status": 500, "body": {"error": {"message": "crashed"}}}, "http"),
        ({"status": 429, "body": {"error": {"code": "rate_limit_exceeded"}}}, "rate_limited"),
    ],
)
def test_passing_failures_are_retried(broken: dict, kind: str) -> None:
    """What may pass is asked again, and without retries it is an error of its kind: never an empty answer."""
    response = ask_scripted([broken, {"text": "four"}])
    assert ("four", 2) == (response.text, response.attempts)
    error, count = fail_scripted([broken, {"text": "four"}], max_retries=0)
    assert (kind, True, 1, 1) == (error.kind, error.retryable, error.attempts, count)


def test_message_of_an_error() -> None:
    """An error names the address, the status, the number of attempts and the beginning of the body."""
    error, count = fail_scripted([{"status": 502, "body": "<html>\n Bad   Gateway " + "x" * 900}], max_retries=2)
    assert (502, 3, 3) == (error.status, error.attempts, count)
    assert str(error).startswith(f"{error.url}: HTTP 502: <html> Bad Gateway xxx")
    assert "/v1/chat/completions" in error.url
    assert "(http; 3 attempts, " in str(error)
    assert len(str(error)) < 650


def test_connection_lost_behind_the_finish_reason() -> None:
    """An answer that was whole when the connection broke is an answer."""
    response = ask_scripted([{"chunks": [delta({"content": "four"}, "stop")], "cut": True}], max_retries=0)
    assert "four" == response.text


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}, "quota"),
        (429, {"error": {"message": "You exceeded your current quota, please check your plan"}}, "quota"),
        (402, {"error": {"message": "Insufficient credits"}}, "quota"),
        (403, {"error": {"message": "billing is not active"}}, "quota"),
        (401, {"error": {"message": "Incorrect API key"}}, "auth"),
        (403, {"error": {"message": "not in your region"}}, "auth"),
        (400, {"error": {"code": "context_length_exceeded", "message": "too long"}}, "context_length"),
        (400, {"error": {"message": "This model's maximum context length is 4096 tokens"}}, "context_length"),
        (400, {"error": {"type": "exceed_context_size_error", "message": "request (9) exceeds"}}, "context_length"),
        (404, {"error": {"message": "model not found"}}, "http"),
        (400, {"error": {"message": "messages: at least one is needed"}}, "http"),
        (400, {"error": {"message": "tools are not supported by this model"}}, "tools"),
        (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "http"),
        (501, "", "http"),
        (307, "", "redirect"),
        (200, {"error": {"code": "insufficient_quota"}}, "quota"),
        (200, {"error": {"code": 401, "message": "No auth"}}, "auth"),
    ],
)
def test_lasting_failures_are_not_retried(status: int, body: object, kind: str) -> None:
    """What asking again cannot change is asked once."""
    request = ChatRequest(HELLO.messages, tools=[{"type": "function", "function": {"name": "f"}}])
    error, count = fail_scripted([{"status": status, "body": body, "headers": {"Location": "/x"}}], request)
    assert (kind, False, 1) == (error.kind, error.retryable, count)


@pytest.mark.parametrize("status", [401, 402])
def test_a_spent_account_or_a_bad_key_ends_all_asking(status: int) -> None:
    """After an error that holds for every request nothing more is sent."""

    async def ask_often(url: str) -> list[str]:
        async with open_client(model(url), Store(None)) as client:
            errors = []
            for number in range(3):
                with pytest.raises(ProviderError) as caught:
                    await client.complete(HELLO, number)
                errors.append(str(caught.value))
            return errors

    with ChatServer([{"status": status, "body": "no"}]) as server:
        errors = run(ask_often(server.base_url))
        assert 1 == server.count
    assert "1 attempt)" in errors[0]
    assert "not asked any more" in errors[2]


def test_retry_after_is_kept_to_and_is_no_working_time() -> None:
    """The wait that a server asks for is waited, as seconds or as a date, and stands apart from the answer's time."""
    for header in ("0.3", formatdate(time.time() + 2, usegmt=True)):
        with ChatServer([{"status": 429, "headers": {"Retry-After": header}}, {"text": "four"}]) as server:
            response = ask(model(server.base_url))
            waited = server.requests[1]["at"] - server.requests[0]["at"]
        assert waited >= 0.3
        assert response.timing.waiting_s >= 0.3 > response.timing.wall_s


def test_reading_retry_after() -> None:
    """A date in the past is no wait, and nonsense is as good as no header."""
    readings = [read_retry_after(value) for value in ("7", formatdate(0, usegmt=True), "soon", "", None, "-1", "nan")]
    assert [7.0, 0.0, None, None, None, 0.0, 0.0] == readings


def test_429_for_ever() -> None:
    """The retries end, and so does the patience with long waits, both in an error that says why."""
    error, count = fail_scripted([{"status": 429, "body": "slow down"}], max_retries=3)
    assert ("rate_limited", 4, 4) == (error.kind, error.attempts, count)
    begin = time.monotonic()
    error, count = fail_scripted([{"status": 429, "headers": {"Retry-After": "3600"}}], retry_wait_limit_s=60)
    assert (1, True) == (count, time.monotonic() - begin < 2)
    assert "Retry-After is 3600 s, retry_wait_limit_s 60 s" in str(error)
    error, count = fail_scripted(
        [{"status": 429, "headers": {"Retry-After": "0.1"}}], max_retries=1000, retry_wait_limit_s=0.35
    )
    assert "rate_limited" == error.kind
    assert 2 <= count <= 4


@pytest.mark.parametrize(
    "error",
    [
        {"message": "Unsupported parameter: 'temperature' is not supported with this model.", "param": "temperature"},
        {"message": "unsupported parameter: temperature"},
        {"message": "'temperature' does not support 0 with this model", "code": "unsupported_value"},
    ],
)
def test_refused_parameter_is_left_out(error: dict) -> None:
    """A parameter that the server does not know is dropped, even without retries; the response says so."""
    request = ChatRequest(HELLO.messages, {"temperature": 0, "seed": 7, "max_tokens": 5})
    with ChatServer([{"status": 400, "body": {"error": error}}, {"text": "four"}]) as server:
        response = ask(model(server.base_url, max_retries=0), request)
        sent = [seen["body"] for seen in server.requests]
    assert (0, 7, 5) == (sent[0]["temperature"], sent[0]["seed"], sent[0]["max_tokens"])
    assert {key: value for key, value in sent[0].items() if key != "temperature"} == sent[1] == response.request_body
    assert (["temperature"], 2) == (response.dropped_parameters, response.attempts)
    assert ["parameter temperature was refused by the server and left out"] == response.warnings


def test_a_parameter_is_refused_once_for_many_at_once() -> None:
    """Requests that were refused at the same time each name the parameter once."""
    error = {"message": "unsupported parameter: seed", "param": "seed"}

    async def ask_all(url: str) -> list[list[str]]:
        async with open_client(model(url), Store(None)) as client:
            chats = [ChatRequest([{"role": "user", "content": str(number)}], {"seed": 7}) for number in range(8)]
            responses = await asyncio.gather(*map(client.complete, chats))
            return [response.dropped_parameters for response in [*responses, await client.complete(chats[0])]]

    refusal = {"when": '"seed"', "status": 400, "body": {"error": error}, "delay_s": 0.2}
    with ChatServer([refusal, {"text": "four"}]) as server:
        assert [["seed"]] * 9 == run(ask_all(server.base_url))


def test_max_tokens_under_its_newer_name() -> None:
    """The token limit is not dropped but sent under the name that replaced it, and never asked about again."""
    refusal = {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.", "param": "max_tokens"}
    request = ChatRequest(HELLO.messages, {"max_tokens": 5})

    async def ask_twice(url: str) -> list[int]:
        async with open_client(model(url), Store(None)) as client:
            return [(await client.complete(request, number)).attempts for number in (1, 2)]

    with ChatServer([{"status": 400, "body": {"error": refusal}}, {"text": "four"}]) as server:
        assert [2, 1] == run(ask_twice(server.base_url))
        assert [None, 5, 5] == [seen["body"].get("max_completion_tokens") for seen in server.requests]
        assert "max_tokens" not in server.requests[2]["body"]


def test_a_server_that_refuses_for_ever() -> None:
    """A refusal of what was not sent any more ends in an error."""
    error, count = fail_scripted(
        [{"status": 400, "body": {"error": {"message": "unsupported parameter: temperature"}}}],
        ChatRequest(HELLO.messages, {"temperature": 0}),
    )
    assert ("http", 2) == (error.kind, count)


def test_parameters_are_sent_as_they_are() -> None:
    """The request's parameters win over the model's, null takes one away, and all that was sent is recorded."""
    request = ChatRequest(HELLO.messages, {"temperature": 0.5, "top_p": None})
    settings = {"temperature": 0, "seed": 7, "top_p": 0.9, "own": {"key": [1]}}
    with ChatServer() as server:
        response = ask(model(server.base_url, request=settings, stream=False), request)
        sent = server.requests[0]["body"]
    expected = {"model": "m", "messages": HELLO.messages, "stream": False, "temperature": 0.5, "seed": 7}
    assert {**expected, "own": {"key": [1]}} == sent == response.request_body


def test_refused_connection() -> None:
    """A port where nobody listens is named, after all attempts."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(ProviderError) as caught:
            ask(model(url, max_retries=2))
    assert ("refused", True, 3) == (caught.value.kind, caught.value.retryable, caught.value.attempts)
    assert f"{url}/chat/completions: the connection was refused" in str(caught.value)


def test_unknown_host() -> None:
    """A host name that does not exist is a clear error."""
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        ask(model("http://no-such-host.invalid/v1", max_retries=0))
    assert "unreachable" == caught.value.kind


def test_connection_limit() -> None:
    """A server that never accepts is given up after connect_timeout_s, and the message says so."""
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        try:
            config = model(f"http://127.0.0.1:{address[1]}/v1", max_retries=0, connect_timeout_s=0.3)
            with pytest.raises(ProviderError) as caught:
                ask(config)
        finally:
            for filler in fillers:
                filler.close()
    assert "timeout_connect" == caught.value.kind
    assert "connect_timeout_s: 0.3), after 0.3" in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"delay_s": 1.0, "text": "late"}, "timeout_read"),
        ({"chunks": HALF, "chunk_delay_s": 1.0}, "timeout_read"),
        ({"chunks": [": alive\n\n"] * 20, "chunk_delay_s": 0.1}, "timeout_total"),
    ],
)
def test_limits_on_reading(answer: dict, kind: str) -> None:
    """Silence runs into read_timeout_s, endless chatter into total_timeout_s; each is named with measured seconds."""
    limits = {"read_timeout_s": 0.3, "total_timeout_s": 0.6}
    error, _ = fail_scripted([answer], **limits, max_retries=0)
    assert kind == error.kind
    limit = "read_timeout_s: 0.3" if kind == "timeout_read" else "total_timeout_s: 0.6"
    assert f"({limit}), after 0." in str(error)


def test_late_answer_is_dropped(tmp_path) -> None:
    """When an attempt was given up, its late answer counts for nothing: one request, one answer in the store."""
    with ChatServer([{"delay_s": 0.6, "text": "late"}, {"text": "second"}]) as server:
        config = model(server.base_url, read_timeout_s=0.2)

        async def ask_and_wait() -> str:
            async with open_client(config, Store(tmp_path)) as client:
                response = await client.complete(HELLO)
                await asyncio.sleep(0.7)
                return response.text

        assert "second" == run(ask_and_wait())
        assert 2 == server.count
        assert "second" == ask(config, folder=tmp_path, mode="only").text
    lines = [line for path in tmp_path.rglob("*.jsonl") for line in path.read_bytes().splitlines()]
    assert 1 == len(lines)


def test_many_at_once() -> None:
    """A hundred requests share one client, and equal ones at the same time are asked once."""

    async def ask_all(url: str, folder) -> int:
        async with open_client(model(url), Store(folder)) as client:
            requests = [ChatRequest([{"role": "user", "content": str(number % 50)}]) for number in range(100)]
            return len(await asyncio.gather(*(client.complete(request) for request in requests)))

    with ChatServer() as server:
        assert 100 == run(ask_all(server.base_url, None))
        assert 100 == server.count


def test_equal_requests_at_the_same_time_are_asked_once(tmp_path) -> None:
    """Of equal requests in one process the second waits for the first one's answer."""

    async def ask_twice(url: str) -> list[bool]:
        async with open_client(model(url), Store(tmp_path)) as client:
            return [
                response.cached for response in await asyncio.gather(client.complete(HELLO), client.complete(HELLO))
            ]

    with ChatServer([{"delay_s": 0.1}]) as server:
        assert [False, True] == run(ask_twice(server.base_url))
        assert 1 == server.count


def test_refused_parameters_are_told_from_other_complaints() -> None:
    """A message that merely mentions a parameter refuses none."""
    sent = ["temperature", "max_tokens"]
    assert failures.refused_parameter({"message": "temperature must be below 2"}, sent) is None
    assert "max_tokens" == failures.refused_parameter({"message": "Extra inputs are not permitted: max_tokens"}, sent)
