"""A pack's case is measured: one request at a time, honestly timed, and never asked twice for one row."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chat_server import ChatServer, delta, event
from regrade import measure
from regrade.models import adapters, entries
from regrade.models.adapters.caller import Exchange, open_caller, question_for
from regrade.models.types import ModelConfig

PLACE = Path(__file__).parent / "vectors/benchpack/adapter.jsonl"
VECTORS = [json.loads(line) for line in PLACE.read_text().splitlines()]
OURS = {"ad-oa-html200", "ad-ol-down"}
"""Vectors with an answer of our own: a page of HTML is no answer; the library's words differ."""


def ask(base_url: str, defaults: dict[str, Any] | None = None, **entry: Any) -> Exchange:
    """One measured call."""
    model = ModelConfig.from_config("tested", {"adapter": "openai-chat", "model": "m", "base_url": base_url, **entry})
    with open_caller(model, threads=1) as caller:
        return caller.ask(question_for(model, "PROMPT", defaults or {}))


def scripted(vector: dict[str, Any]) -> dict[str, Any]:
    """A vector's reply as the test server gives it; JSON as compact text in the vector's own spelling."""
    http = vector["input"]["http"]
    body = http["body"] if isinstance(http["body"], str) else json.dumps(http["body"])
    return {"status": http["status"], "body": body, "content_type": http["content_type"]}


@pytest.mark.parametrize("vector", [item for item in VECTORS if item["id"] not in OURS], ids=lambda item: item["id"])
def test_adapters_send_and_read_what_the_vectors_say(vector: dict[str, Any]) -> None:
    """URL, body, raw files, text, tokens, errors and rates agree, over a real connection."""
    given, expected = vector["input"], vector["expected"]
    with ChatServer([scripted(vector)]) as server:
        host = f"http://127.0.0.1:{server.port}"
        base = given["endpoint"].replace("http://h:1", host)
        exchange = ask(base, given["defaults"], adapter=given["adapter"])
        [request] = server.requests
    reading = exchange.reading
    raw = json.loads(json.dumps(reading.raw))
    for chunk in raw.get("chunks", []):
        assert chunk["offset_s"] > 0
        chunk["offset_s"] = "<float>"
    tokens = {name: getattr(reading.usage, name) for name in expected["tokens"]}
    rates = {"prefill_tps": reading.prefill_tps, "decode_tps": reading.decode_tps}
    times = {"wall_s": exchange.wall_s, "ttft_s": reading.ttft_s, **rates}
    found = {
        "url": f"http://h:1{request['path']}",
        "endpoint": exchange.endpoint.replace(host, "http://h:1"),
        "request_body": request["body"],
        "raw_request": exchange.request,
        "raw_response": raw,
        "ok": not reading.error,
        "output_text": reading.text,
        "error": reading.error or None,
        "tokens": tokens,
        "backend": reading.backend or None,
        "timing_null": {name: value is None for name, value in times.items()},
        **{name: rates[name] for name in rates if name in expected},
    }
    assert expected == found


def test_a_page_of_html_with_status_200_is_an_error() -> None:
    """Our answer to ad-oa-html200: nothing that is no JSON object counts as answered; its text is in the raw file."""
    for body in ("<html>", "[1]", '{"error": {"message": "overloaded"}}'):
        with ChatServer([{"status": 200, "body": body, "content_type": "text/html"}]) as server:
            for stream in (False, True):
                reading = ask(server.base_url, {"stream": stream}).reading
                assert (f"HTTP 200: {body}", "") == (reading.error, reading.text)
    assert {"error": {"message": "overloaded"}} == reading.raw


def test_a_server_that_is_down_gives_an_error_row() -> None:
    """Our answer to ad-ol-down: the words are those of the library in use."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        exchange = ask(f"http://127.0.0.1:{taken.getsockname()[1]}", adapter="ollama-generate")
    reading = exchange.reading
    assert reading.error.startswith("transport error: ConnectionRefusedError(")
    assert (["error"], "", None) == (list(reading.raw), reading.text, reading.usage.prompt)
    assert exchange.wall_s > 0


@pytest.mark.parametrize(
    ("adapter", "base_url", "expected"),
    [
        ("openai-chat", "http://h:1", "http://h:1/v1/chat/completions"),
        ("openai-chat", "http://h:1/v1/", "http://h:1/v1/chat/completions"),
        ("openai-chat", "http://h:1/api", "http://h:1/api/v1/chat/completions"),
        ("openai-chat", "http://h:1/x/chat/completions/", "http://h:1/x/chat/completions"),
        ("openai-chat", "https://h/v1?api-version=1", "https://h/v1/chat/completions?api-version=1"),
        ("ollama-generate", "http://h:1/", "http://h:1/api/generate"),
        ("ollama-generate", adapters.load("ollama-generate").DEFAULT_ADDRESS, "http://localhost:11434/api/generate"),
    ],
)
def test_addresses_are_completed(adapter: str, base_url: str, expected: str) -> None:
    """A path is added as far as it lacks, a query stays."""
    assert expected == adapters.load(adapter).address(base_url)


def test_only_an_ollama_model_needs_no_address() -> None:
    """It has a usual one."""
    models = {name: {"adapter": name, "model": "m"} for name in adapters.ADAPTERS}
    missing = [fault.field for fault in entries.faults(models, "models.yaml") if "is missing" in fault.message]
    assert ["openai-chat.base_url"] == missing


def test_parameters_are_the_packs_and_then_the_models() -> None:
    """Of a pack's defaults three are sent, and they win; whatever else the model's entry has goes with them."""
    defaults = {"temperature": 0, "max_tokens": 8, "top_p": 0.5, "stream": True, "warmup": 1, "mirostat": 2}
    entry = {"model": "m", "request": {"temperature": 1, "seed": 3, "stop": None}, "stream_usage": "omit"}
    question = question_for(ModelConfig.from_config("tested", entry), "PROMPT", defaults)
    sent = {"temperature": 0, "max_tokens": 8, "top_p": 0.5, "seed": 3}
    messages = [{"role": "user", "content": "PROMPT"}]
    body = adapters.load("openai-chat").build_body(question)
    assert {"model": "m", "messages": messages, "stream": True, **sent} == body
    options = {"temperature": 0, "num_predict": 8, "top_p": 0.5, "seed": 3}
    body = adapters.load("ollama-generate").build_body(question)
    assert {"model": "m", "prompt": "PROMPT", "stream": False, "options": options} == body


# Streams


def words(*texts: str) -> list[str]:
    return [delta({"content": text}) for text in texts]


def test_times_of_a_stream_are_those_of_its_pieces() -> None:
    """The first words after 0.1 s of silence, the last after four more pauses; rates are made of these."""
    usage = {"prompt_tokens": 30, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 7}}
    pieces = [delta({"role": "assistant", "content": ""}), *words("a", "b", "c"), delta({}, "stop")]
    pieces.append(
        event({"choices": [], "usage": {**usage, "completion_tokens": 1}}) + event({"choices": [], "usage": usage})
    )
    with ChatServer([{"chunks": [*pieces, event("[DONE]")], "chunk_delay_s": 0.1}]) as server:
        exchange = ask(server.base_url, {"stream": True})
    reading = exchange.reading
    assert ("abc", "stop", 30, 4, 7) == (
        reading.text, reading.finish_reason, reading.usage.prompt, reading.usage.output, reading.usage.cached_prompt,
    )  # fmt: skip
    assert reading.ttft_s is not None
    assert 0.1 <= reading.ttft_s < 0.19
    assert 0.6 <= exchange.wall_s < 0.8
    assert round(30 / reading.ttft_s, 4) == reading.prefill_tps
    assert round(4 / (exchange.wall_s - reading.ttft_s), 4) == reading.decode_tps


def test_a_server_that_does_not_hang_up_after_done_is_not_waited_for() -> None:
    """The clock stops at [DONE]; what follows is read for half a second at most."""
    chunks = [*words("a"), event("[DONE]"), ": still here\n\n"]
    with ChatServer([{"chunks": chunks, "chunk_delay_s": 0.9}]) as server:
        begin = time.monotonic()
        exchange = ask(server.base_url, {"stream": True})
        took = time.monotonic() - begin
    assert ("", "a") == (exchange.reading.error, exchange.reading.text)
    assert exchange.wall_s < 1.0 < took < 1.7


@pytest.mark.parametrize(
    ("answer", "error", "payload"),
    [
        ({"chunks": [*words("a"), "data: {broken\n\n"]}, "stream parse error: an event is no JSON object", "{broken"),
        ({"chunks": [*words("a"), "data: 5\n\n"]}, "stream parse error: an event is no JSON object", "5"),
        (
            {"chunks": [*words("a"), 'data: {"error": "x"}\n\n']},
            "stream parse error: the server reports",
            '{"error": "x"}',
        ),
        ({"chunks": words("a"), "cut": True}, "transport error: IncompleteRead(", None),
    ],
    ids=["parse", "number", "error", "cut"],
)
def test_a_stream_that_breaks_gives_an_error_row(answer: dict[str, Any], error: str, payload: str | None) -> None:
    """Its text and tokens are gone, the time of its first words and the raw pieces stay."""
    with ChatServer([answer]) as server:
        reading = ask(server.base_url, {"stream": True}).reading
    assert reading.error.startswith(error)
    assert ("", None, None) == (reading.text, reading.usage.output, reading.decode_tps)
    assert reading.ttft_s is not None
    raw = reading.raw
    assert (["a"], reading.error, payload) == (
        [chunk["delta"] for chunk in raw["chunks"]], raw["error"], raw.get("error_payload"),
    )  # fmt: skip


def test_pieces_may_be_cut_anywhere_and_done_is_not_needed() -> None:
    """A character over two pieces, CRLF, no blank line at the end, a reasoning model."""
    head, tail = (text.encode().hex() for text in ('data: {"choices":[{"delta":{"content":"caf', '"}}]}\r\n\r\n'))
    thought = delta({"reasoning_content": "hm"})
    chunks = [
        thought,
        {"hex": f"{head}c3"},
        {"hex": f"a9{tail}"},
        'data:{"choices":[{"delta":{},"finish_reason":"length"}]}',
    ]
    with ChatServer([{"chunks": chunks, "chunk_delay_s": 0.02}]) as server:
        reading = ask(server.base_url, {"stream": True}).reading
    assert ("café", "hm", "length", "", ()) == (
        reading.text, reading.reasoning, reading.finish_reason, reading.error, reading.warnings,
    )  # fmt: skip
    assert reading.ttft_s is not None
    assert reading.ttft_s > 0.03


def test_a_call_ends_at_its_total_time() -> None:
    """Also while pieces still come."""
    with ChatServer([{"chunks": words(*"abcdefgh"), "chunk_delay_s": 0.1}]) as server:
        exchange = ask(server.base_url, {"stream": True}, total_timeout_s=0.35)
    assert "TimeoutError" in exchange.reading.error
    assert 0.35 <= exchange.wall_s < 0.6


def test_keys_stay_out_of_everything_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The header carries it; what a server echoes is redacted in text, error and raw."""
    monkeypatch.setenv("PACK_KEY", "secret-key-12345")
    echo = {"choices": [{"message": {"content": "you sent secret-key-12345"}}]}
    with ChatServer([{"body": echo}, {"status": 401, "body": "bad secret-key-12345"}]) as server:
        exchanges = [ask(server.base_url, api_key_env="PACK_KEY") for _ in range(2)]
        assert "Bearer secret-key-12345" == server.requests[0]["headers"]["Authorization"]
    assert "you sent [redacted]" == exchanges[0].reading.text
    assert "HTTP 401: bad [redacted]" == exchanges[1].reading.error
    assert "secret" not in str(exchanges)


def test_numbers_that_json_cannot_hold_do_not_spoil_a_row() -> None:
    """NaN and 1e999 in a reply become texts."""
    body = '{"choices": [{"message": {"content": "x"}, "score": NaN}], "usage": {"prompt_tokens": 1e999}}'
    with ChatServer([{"body": body, "content_type": "application/json"}]) as server:
        reading = ask(server.base_url).reading
    assert ("x", "NaN", None) == (reading.text, reading.raw["choices"][0]["score"], reading.usage.prompt)


# The stage


class Case:
    """A case to be measured, in a run directory of its own."""

    def __init__(self, folder: Path, server: ChatServer | None = None, **changes: Any) -> None:
        self.run = folder / "run"
        task = self.run / "task/capital"
        self.spec: dict[str, Any] = {
            "pack": {"id": "smoke", "version": "1"},
            "case": {"id": "capital", "prompt": "What is the capital of France?"},
            "defaults": {"max_tokens": 8},
            "repetitions": 3,
            "warmup": 1,
            "raw": str(self.run / "raw"),
            "output": str(task / "measured.jsonl"),
            "journal": str(task / "journal.jsonl"),
            "errors": str(task / "measure.errors.jsonl"),
            "digest": "d1",
            "attempt": 0,
        }
        models = {}
        if server is not None:
            entry = {"adapter": "openai-chat", "model": "m", "base_url": server.base_url}
            models["tested"] = {**entry, "max_concurrency": 1, **changes.pop("entry", {})}
            self.spec["model"] = {**entry, "name": "tested", "request": {"seed": 1}}
        self.spec |= changes
        self.config = {"arms": {}, "models": models}

    def words(self) -> list[str]:
        return [sys.executable, "-m", "regrade.measure", json.dumps(self.spec), json.dumps(self.config)]

    def measure(self, **changes: Any) -> list[dict[str, Any]]:
        self.spec |= changes
        measure.main(*self.words()[3:])
        return self.rows("measured.jsonl")

    def rows(self, name: str) -> list[dict[str, Any]]:
        path = self.run / "task/capital" / name
        return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]

    def raw(self) -> list[str]:
        return sorted(path.name for path in (self.run / "raw").iterdir())


def test_warmups_come_first_and_leave_no_row(tmp_path: Path) -> None:
    """One request at a time, in order, all the same; raw files of each; rows of the repetitions alone."""
    with ChatServer([{"text": f"answer {number}"} for number in range(4)]) as server:
        rows = Case(tmp_path, server).measure()
        bodies = [request["body"] for request in server.requests]
    assert 4 == len(bodies)
    assert bodies == [bodies[0]] * 4
    assert {"seed": 1, "max_tokens": 8, "stream": False} == {
        key: bodies[0][key] for key in ("seed", "max_tokens", "stream")
    }
    assert [(1, "answer 1"), (2, "answer 2"), (3, "answer 3")] == [(row["repetition"], row["text"]) for row in rows]
    names = [f"capital.{name}" for name in ("rep-001", "rep-002", "rep-003", "warmup-001")]
    assert [f"{name}.{kind}.json" for name in names for kind in ("request", "response")] == Case(tmp_path).raw()
    response = json.loads((tmp_path / "run" / rows[1]["raw"]["response_path"]).read_text())
    assert "answer 2" == response["choices"][0]["message"]["content"]
    text = (tmp_path / "run" / rows[1]["raw"]["request_path"]).read_text()
    assert json.dumps(bodies[0], indent=2) + "\n" == text


def test_a_row_says_all_that_was_measured(tmp_path: Path) -> None:
    """With one repetition raw names have no number."""
    with ChatServer([{"text": "Paris"}]) as server:
        [row] = Case(tmp_path, server, repetitions=1, warmup=0).measure()
    assert ["capital.request.json", "capital.response.json"] == Case(tmp_path).raw()
    wall_s = row["timing"]["wall_s"]
    assert round(2 / wall_s, 4) == row["timing"].pop("total_tps")
    request = row.pop("request")
    assert 64 == len(request)
    assert {
        "repetition": 1,
        "ok": True,
        "text": "Paris",
        "reasoning": "",
        "adapter": "openai-chat",
        "endpoint": f"{server.base_url}/chat/completions",
        "model": "m",
        "timing": {"wall_s": wall_s, "ttft_s": None, "prefill_tps": None, "decode_tps": None},
        "tokens": {"prompt": 10, "output": 2, "cached_prompt": None},
        "resources": {"memory_mb": None, "gpu_memory_mb": None},
        "finish_reason": "stop",
        "reason": "",
        "message": "",
        "warnings": [],
        "raw": {"request_path": "raw/capital.request.json", "response_path": "raw/capital.response.json"},
        "digest": "d1",
    } == row


@pytest.mark.parametrize(
    ("answer", "ok", "reason"),
    [
        ({"text": "Par", "finish_reason": "length"}, True, "truncated"),
        ({"text": ""}, True, "no_response"),
        ({"body": {"choices": []}}, True, "provider_error"),
        ({"status": 500, "body": "x"}, False, "provider_error"),
    ],
)
def test_what_an_answer_hints_at_is_kept(tmp_path: Path, answer: dict[str, Any], ok: bool, reason: str) -> None:
    """A reply without any choice is ok to the format, and no answer to us."""
    with ChatServer([answer]) as server:
        [row] = Case(tmp_path, server, repetitions=1, warmup=0).measure()
    assert (ok, reason, False) == (row["ok"], row["reason"], row["message"] == "")


def test_a_failed_call_is_not_repeated_within_a_job(tmp_path: Path) -> None:
    """It is a row with an error; the next attempt of the job repeats the failed executions and no other."""
    with ChatServer([{"text": "w"}, {"text": "a"}, {"status": 503, "body": "busy"}, {"text": "c"}]) as server:
        case = Case(tmp_path, server)
        first = case.measure()
        assert (4, [True, False, True]) == (server.count, [row["ok"] for row in first])
        assert ("HTTP 503: busy", "") == (first[1]["error"], first[1]["text"])
        assert first == case.measure()
        [noted] = case.rows("measure.errors.jsonl")
        assert ("measure", "d1", "provider_error", "HTTP 503: busy") == tuple(
            noted[key] for key in ("stage", "digest", "reason", "message")
        )
        server.script([{"text": "b"}])
        second = case.measure(attempt=1)
        assert 5 == server.count
    assert (["a", "b", "c"], [first[0], first[2]]) == ([row["text"] for row in second], [second[0], second[2]])
    assert 1 == len(case.rows("measure.errors.jsonl"))


def test_another_digest_measures_everything_anew(tmp_path: Path) -> None:
    """Rows and raw files of the earlier measurement are gone."""
    with ChatServer([{"text": "x"}]) as server:
        case = Case(tmp_path, server)
        case.measure()
        rows = case.measure(digest="d2", repetitions=1, warmup=0)
        assert 5 == server.count
    assert ["d2"] == [row["digest"] for row in rows]
    assert ["capital.request.json", "capital.response.json"] == case.raw()


def test_a_key_that_is_not_set_fails_every_row(tmp_path: Path) -> None:
    """The job itself ends well, and says which variable."""
    with ChatServer() as server:
        rows = Case(tmp_path, server, entry={"api_key_env": "NOT_SET_ANYWHERE"}).measure()
        assert 0 == server.count
    assert [False] * 3 == [row["ok"] for row in rows]
    assert "NOT_SET_ANYWHERE" in rows[0]["error"]


def test_oracle_and_nop_give_their_text_without_asking(tmp_path: Path) -> None:
    """A diff stands in the fence that a task expects; warmups there are none."""
    patch, text = tmp_path / "capital.diff", tmp_path / "capital.md"
    patch.write_text("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    text.write_text("Paris\n")
    arms = [("oracle", str(patch)), ("oracle", str(text)), ("nop", None)]
    found = [Case(tmp_path / str(n), harness=arm, reference=place).measure() for n, (arm, place) in enumerate(arms)]
    expected = [f"```diff\n{patch.read_text()}```\n", "Paris\n", ""]
    assert expected == [rows[0]["text"] for rows in found]
    assert [(3, "oracle", True), (3, "oracle", True), (3, "nop", True)] == [
        (len(rows), rows[0]["adapter"], rows[0]["ok"]) for rows in found
    ]
    assert 6 == len(Case(tmp_path / "0").raw())


# Kills


def kill_when(case: Case, condition: Callable[[], bool]) -> None:
    """Start a measurement and kill -9 it as soon as the condition holds."""
    process = subprocess.Popen(case.words(), start_new_session=True)
    until = time.monotonic() + 30
    while not condition():
        assert process.poll() is None, "ended before it could be killed"
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_after_kill_9_twice_only_what_was_in_flight_is_asked_again(tmp_path: Path) -> None:
    """Rows that were whole stay as they were measured, and no execution has two."""
    with ChatServer([{"text": f"answer {number}", "delay_s": 0.2} for number in range(9)]) as server:
        case = Case(tmp_path, server)
        kill_when(case, lambda: server.count == 3)
        kept = case.rows("journal.jsonl")
        assert ["warmup-001", "rep-001"] == [row["execution"] for row in kept]
        assert not Path(case.spec["output"]).exists()
        kill_when(case, lambda: server.count == 5)
        rows = case.measure()
        # Four executions, and one that was under way at each kill.
        assert 6 == server.count
    assert kept == case.rows("journal.jsonl")[:2]
    assert ["warmup-001", "rep-001", "rep-002", "rep-003"] == [row["execution"] for row in case.rows("journal.jsonl")]
    assert kept[1]["measured"]["timing"] == rows[0]["timing"]
    assert ["answer 1", "answer 3", "answer 5"] == [row["text"] for row in rows]
    assert ([], ["measured after a restart: the warmups were before it"]) == (rows[0]["warnings"], rows[2]["warnings"])
    assert 8 == len(case.raw())


def test_a_row_that_a_kill_cut_short_is_measured_again(tmp_path: Path) -> None:
    """The torn end of the journal is taken off before anything is added; lost raw files come back from it."""
    with ChatServer([{"text": "x"}]) as server:
        case = Case(tmp_path, server)
        case.measure()
        journal = Path(case.spec["journal"])
        journal.write_bytes(journal.read_bytes()[:-20])
        for path in (case.run / "raw").iterdir():
            path.unlink()
        rows = case.measure()
        assert 5 == server.count
    assert [1, 2, 3] == [row["repetition"] for row in rows]
    assert 4 == len([json.loads(line) for line in journal.read_text().splitlines()])
    assert 8 == len(case.raw())


def test_two_jobs_for_one_case_do_not_ask_at_the_same_time(tmp_path: Path) -> None:
    """The second, started while a job without its Snakemake is still asking, waits and finds all rows there."""
    with ChatServer([{"text": "x", "delay_s": 0.1}]) as server:
        case = Case(tmp_path, server)
        first = subprocess.Popen(case.words(), start_new_session=True)
        while server.count == 0:
            time.sleep(0.005)
        rows = case.measure()
        assert (0, 4, 3) == (first.wait(), server.count, len(rows))


def test_the_embedded_model_can_be_measured(tmp_path: Path) -> None:
    """A stream with a time to the first token, rates of both kinds, and a name that no machine is in."""
    case = Case(tmp_path, repetitions=2, defaults={"stream": True, "max_tokens": 4, "temperature": 0})
    entry = {"adapter": "openai-chat", "model": "SmolLM2", "runtime": {"engine": "xllamacpp", "context_tokens": 256}}
    case.config["models"]["embedded"] = entry
    rows = case.measure(model={**entry, "name": "embedded", "request": {}})
    assert [True, True] == [row["ok"] for row in rows]
    assert (4, "truncated", True) == (
        rows[0]["tokens"]["output"],
        rows[0]["reason"],
        rows[0]["endpoint"].startswith("embedded:"),
    )
    for row in rows:
        timing = row["timing"]
        assert 0 < timing["ttft_s"] < timing["wall_s"]
        assert None not in timing.values()
