"""What a suite's task asks a model for: the conversation, the parameters, and whose settings win."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer
from models_support import ask, model
from regrade.errors import InputsError
from regrade.formats.suite import SuiteTask, pictures, request
from regrade.models import protocols
from regrade.models.types import ChatRequest, ChatResponse

VECTORS = Path(__file__).parent / "vectors" / "suite"
PNG = b"\x89PNG\r\n\x1a\nrest"
PICTURES = {
    "png": PNG,
    "jpeg": b"\xff\xd8\xff\xe0rest",
    "gif": b"GIF89arest",
    "webp": b"RIFF\x04\0\0\0WEBPrest",
}


def task(scoring: dict[str, Any] | None = None, images: tuple[str, ...] = (), **fields: Any) -> SuiteTask:
    """A task with these fields."""
    known = {"id": "t", "category": "math", "prompt": "P", "scoring": scoring or {"type": "exact", "value": "x"}}
    return SuiteTask("t", "math", {**known, **fields}, images=images)


def vectors(kind: str) -> list[Any]:
    """The cases of one kind."""
    return [json.loads(line) for line in (VECTORS / f"{kind}.jsonl").read_text().splitlines()]


def sent(of: SuiteTask, adapter: str = "openai-chat", override: dict | None = None, **entry: Any) -> ChatResponse:
    """What is really sent for a task, as the server's answer has it."""
    with ChatServer() as server:
        config = model(server.base_url, adapter=adapter, **entry)
        asked = request.merged(config.request, request.parameters(of, adapter), override or {})
        response = ask(config, ChatRequest(request.messages(of), asked))
        assert server.requests[-1]["body"] == response.request_body
    return response


def body(of: SuiteTask, adapter: str = "openai-chat", override: dict | None = None, **entry: Any) -> dict[str, Any]:
    """The same, without what every request has."""
    always = ("model", "messages", "input", "stream", "stream_options")
    found = sent(of, adapter, override, **entry).request_body
    return {key: value for key, value in found.items() if key not in always}


@pytest.mark.parametrize("case", vectors("messages"), ids=lambda case: case["id"])
def test_messages_of_the_format(case: dict) -> None:
    """The conversation is the one that the format's cases expect."""
    assert case["expected"]["messages"] == request.messages(task(**case["task"]))


def test_system_and_examples() -> None:
    """A system prompt stands first unless it is empty, examples before the question."""
    said = request.messages(task(system="S", few_shot=[{"user": "u", "assistant": "a"}]))
    assert ["system S", "user u", "assistant a", "user P"] == [f"{part['role']} {part['content']}" for part in said]
    for empty in ("", None):
        assert [{"role": "user", "content": "P"}] == request.messages(task(system=empty, few_shot=[]))


@pytest.mark.parametrize("kind", PICTURES)
def test_pictures(kind: str, tmp_path: Path) -> None:
    """A file is sent as data under what it really is, whatever its name; an address stays an address."""
    file = tmp_path / "picture.txt"
    file.write_bytes(PICTURES[kind])
    data = f"data:image/{kind};base64,{base64.b64encode(PICTURES[kind]).decode()}"
    for urls in ("https://h/a", ["https://h/a"]):
        (said,) = request.messages(task(image_url=urls, images=(str(file),)))
        shown = [{"type": "image_url", "image_url": {"url": address}} for address in ("https://h/a", data)]
        assert {"role": "user", "content": [{"type": "text", "text": "P"}, *shown]} == said


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "is not a file, expected a picture"),
        (b"", "is no picture that models take"),
        (b"<svg/>", "is no picture that models take, expected PNG, JPEG, GIF or WebP"),
        (PNG + bytes((pictures.LARGEST_MB << 20) + 1), "has 20 MB, expected at most 20"),
    ],
)
def test_bad_pictures(content: bytes | None, told: str, tmp_path: Path) -> None:
    """A missing file, one that is no picture and one that is too large are named before anybody is asked."""
    file = tmp_path / "a.png"
    if content is not None:
        file.write_bytes(content)
    assert told in str(pictures.fault(file))
    with pytest.raises(InputsError, match=r"image_path: .*a\.png"):
        request.messages(task(images=(str(file),)))


def test_a_large_picture_is_no_cut_prompt(tmp_path: Path) -> None:
    """The data of a picture is not taken for text of which the server read only a part."""
    file = tmp_path / "a.png"
    file.write_bytes(PNG * 5000)
    assert [] == sent(task(images=(str(file),))).warnings


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [
        (
            "openai-chat",
            {
                "temperature": 0.5,
                "max_tokens": 9,
                "top_p": 0.9,
                "top_k": 4,
                "repetition_penalty": 1.1,
                "reasoning_effort": "high",
                "verbosity": "low",
                "reasoning": {"max_tokens": 7},
            },
        ),
        (
            "openai-responses",
            {
                "temperature": 0.5,
                "max_output_tokens": 99,
                "top_p": 0.9,
                "top_k": 4,
                "repetition_penalty": 1.1,
                "reasoning": {"effort": "high", "summary": "auto"},
                "text": {"verbosity": "low"},
            },
        ),
        (
            "ollama-chat",
            {
                "options": {"temperature": 0.5, "num_predict": 9, "top_p": 0.9, "top_k": 4, "repeat_penalty": 1.1},
                "think": True,
            },
        ),
    ],
)
def test_every_parameter_under_its_name(adapter: str, expected: dict) -> None:
    """All that a task can set is sent under the name that the protocol has for it; what it has none for is told."""
    fields = {
        "temperature": 0.5,
        "max_tokens": 9,
        "max_output_tokens": 99,
        "top_p": 0.9,
        "top_k": 4,
        "repetition_penalty": 1.1,
        "thinking": True,
        "reasoning_effort": "high",
        "reasoning_summary": "auto",
        "text_verbosity": "low",
        "extra_body": {"reasoning": {"max_tokens": 7}},
    }
    untold = {
        "openai-chat": ["thinking", "reasoning_summary"],
        "openai-responses": ["thinking", "extra_body.reasoning"],
        "ollama-chat": ["reasoning_effort", "reasoning_summary", "text_verbosity", "extra_body.reasoning"],
    }
    assert expected == body(task(**fields), adapter)
    told = [f"{name} of the task was not sent: {adapter} has no such parameter" for name in untold[adapter]]
    assert told == request.unsent(task(**fields), adapter)


@pytest.mark.parametrize("adapter", protocols.CONVERSATIONS)
def test_a_task_without_settings_sends_none(adapter: str) -> None:
    """What a task leaves open, or says as null, is left to the model's entry."""
    empty = task(reasoning_effort=None, text_verbosity=None, temperature=None, extra_body={})
    for plain in (task(), empty):
        assert ({}, []) == (request.parameters(plain, adapter), request.unsent(plain, adapter))


def test_thinking_is_refused_explicitly() -> None:
    """`thinking: false` is sent, and only to Ollama."""
    calm = task(thinking=False)
    assert {"think": False} == body(calm, "ollama-chat")
    assert ({}, {}) == (body(calm), body(calm, "openai-responses"))
    assert [] == request.unsent(calm, "openai-chat")


@pytest.mark.parametrize("adapter", protocols.CONVERSATIONS)
def test_whose_setting_wins(adapter: str) -> None:
    """The arm's override wins over the task, the task over the model's entry; all others stand."""
    place = protocols.of(adapter).WORDS
    entry = {"temperature": 0.1, "max_tokens": 1, "top_p": 0.1}
    found = body(task(temperature=0.2, max_tokens=2), adapter, {"max_tokens": 3}, request=entry)
    for word, value in {"temperature": 0.2, "max_tokens": 3, "top_p": 0.1}.items():
        first, _, rest = place[word].partition(".")
        assert value == (found[first][rest] if rest else found[first])


@pytest.mark.parametrize(
    ("adapter", "own", "name"),
    [
        ("openai-chat", {"max_completion_tokens": 1}, "max_completion_tokens"),
        ("openai-responses", {"max_output_tokens": 1}, "max_output_tokens"),
        ("ollama-chat", {"options": {"num_predict": 1}}, "options"),
    ],
)
def test_an_entry_in_the_servers_own_words(adapter: str, own: dict, name: str) -> None:
    """An entry's own name for a limit yields to the task's and the arm's words, and is not sent beside them."""
    for override, value in (({}, 2), ({"max_tokens": 3}, 3)):
        found = body(task(max_tokens=2), adapter, override, request=own)
        assert {name: {"num_predict": value} if name == "options" else value} == found


def test_extra_body_merges_deeply() -> None:
    """A task's extra body is laid over the entry's, key by key, and over its own words; the arm is above both."""
    entry = {"reasoning": {"effort": "low", "exclude": True}, "provider": {"order": ["a"]}, "verbosity": "high"}
    extra = {"reasoning": {"effort": "high", "max_tokens": 5}, "provider": {"order": ["b"]}, "temperature": 1}
    of = task(temperature=0, extra_body=extra)
    found = body(of, override={"temperature": 0.5}, request=entry)
    assert {
        "reasoning": {"effort": "high", "exclude": True, "max_tokens": 5},
        "provider": {"order": ["b"]},
        "verbosity": "high",
        "temperature": 0.5,
    } == found
    assert (1, {"effort": "low", "exclude": True}) == (body(of, request=entry)["temperature"], entry["reasoning"])


def test_extra_body_in_the_servers_words_wins_over_an_entry() -> None:
    """The task's newer name for a limit wins over the entry's older one; the arm's word wins over both."""
    of = task(extra_body={"max_completion_tokens": 7, "verbosity": "low"})
    entry = {"max_tokens": 1, "text_verbosity": "high"}
    assert {"max_completion_tokens": 7, "verbosity": "low"} == body(of, request=entry)
    assert 9 == body(of, override={"max_tokens": 9}, request=entry)["max_completion_tokens"]


def test_extra_body_changes_no_structure() -> None:
    """What Regrade itself writes is not taken from a task, and that is told."""
    of = task(extra_body={"messages": [], "n": 4, "stream": True, "seed": 7})
    assert {"seed": 7} == body(of, stream=False)
    told = [said.split()[0] for said in request.unsent(of, "openai-chat")]
    assert ["extra_body.messages", "extra_body.n", "extra_body.stream"] == told


@pytest.mark.parametrize("case", vectors("logprob_pick"), ids=lambda case: case["id"])
def test_one_token_with_candidates(case: dict) -> None:
    """Tasks of logprob_choice ask for one token and its candidates, not streamed, whatever else they say."""
    of = task(scoring=case["scoring"], max_tokens=500)
    found = sent(of).request_body
    expected = case["expected"]["request"]
    assert expected == {key: found[key] for key in expected}
    assert "stream_options" not in found


def test_one_token_in_other_protocols() -> None:
    """Ollama has the same under its names; Responses knows no budget below 16 tokens."""
    of = task(scoring={"type": "pass_at_k", "inner_type": "logprob_choice", "value": "B", "k": 1})
    assert {"options": {"num_predict": 1}, "logprobs": True, "top_logprobs": 5} == body(of, "ollama-chat")
    found = body(of, "openai-responses")
    assert (16, 5, ["message.output_text.logprobs"]) == (
        found["max_output_tokens"],
        found["top_logprobs"],
        found["include"],
    )


def test_what_was_refused_is_told() -> None:
    """A parameter of a task that the server refuses is left out with a warning, and the rest is asked."""
    refusal = {"status": 400, "body": {"error": {"message": "Unrecognized request argument supplied: top_k"}}}
    of = task(top_k=4, temperature=0)
    with ChatServer([refusal, {"text": "x"}]) as server:
        response = ask(model(server.base_url), ChatRequest(request.messages(of), request.parameters(of, "openai-chat")))
    assert (["top_k"], 0) == (response.dropped_parameters, response.request_body["temperature"])
    assert ["parameter top_k was refused by the server and left out"] == response.warnings


@pytest.mark.parametrize("adapter", protocols.CONVERSATIONS)
def test_reasoning_is_no_answer(adapter: str) -> None:
    """An answer of nothing but reasoning stays empty: the thoughts stand apart and are not what is scored."""
    with ChatServer([{"text": "", "reasoning": "so 8"}]) as server:
        response = ask(model(server.base_url, adapter=adapter), ChatRequest(request.messages(task())))
    assert ("", "so 8", True) == (response.text, response.reasoning, response.empty_content)
