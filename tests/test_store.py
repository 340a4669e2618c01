"""The response store keeps what was paid for, through kills and full disks, and serves nothing else."""

import base64
import dataclasses
import json
import os
import resource
import signal
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chat_server import ChatServer
from models_support import HELLO, ask, fail_scripted, model
from regrade.errors import RegradeError
from regrade.models.types import ChatRequest, ProviderError
from regrade.store import Store, StoreError, request_digest

ENDPOINT = "http://h/v1"
REQUEST = "ab" + "0" * 62
REPLY = {"text": "four", "raw": ["data", "é"]}


def keep(store: Store, text: str, repetition: int = 1) -> None:
    """Remember a response with this text."""
    store.remember_response(REQUEST, repetition, {"text": text, "raw": text}, {"model": "m"})


def test_what_was_kept_comes_back_in_another_process(tmp_path: Path) -> None:
    """A response is found under its request and repetition, and under no other."""
    Store(tmp_path).remember_response(REQUEST, 1, REPLY, {"model": "m"})
    store = Store(tmp_path)
    assert REPLY == store.response(REQUEST, 1)
    assert store.response(REQUEST, 2) is None
    assert store.response("ab" + "1" * 62, 1) is None


def test_every_part_of_a_request_counts() -> None:
    """Endpoint, model, messages, tools and each parameter change the digest; the order of keys does not."""
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "temperature": 0, "stream": True}
    digest = request_digest(ENDPOINT, body)
    assert digest == request_digest(ENDPOINT, dict(reversed(body.items())))
    changes = [{"model": "n"}, {"messages": []}, {"temperature": 1}, {"stream": False}, {"tools": [{}]}, {"seed": 1}]
    others = {request_digest(ENDPOINT, {**body, **change}) for change in changes} | {request_digest("http://i", body)}
    assert 7 == len(others - {digest})


def test_steps_of_a_conversation_share_a_folder() -> None:
    """Requests with one beginning stand in one group, so that a loop reads only that."""
    opening = [{"role": "system", "content": "s"}, {"role": "user", "content": "task"}]
    step = [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]
    digests = [
        request_digest(ENDPOINT, {"model": "m", "messages": opening + step * count, "seed": count})
        for count in range(4)
    ]
    assert (1, 4) == (len({digest[:2] for digest in digests}), len(set(digests)))


def test_lookups_read_only_the_group(tmp_path: Path) -> None:
    """A file of another group is never opened."""
    keep(Store(tmp_path), "four")
    (tmp_path / "cd").mkdir()
    os.mkfifo(tmp_path / "cd" / "would-hang.jsonl")
    assert "four" == Store(tmp_path).response(REQUEST, 1)["text"]


def test_later_entries_win(tmp_path: Path) -> None:
    """Of two writers' entries the later one counts, whatever their files are called, also in its own process."""
    early, late = Store(tmp_path), Store(tmp_path)
    keep(early, "one")
    keep(late, "two")
    assert "two" == Store(tmp_path).response(REQUEST, 1)["text"]
    assert 2 == len(list(tmp_path.rglob("*.jsonl")))
    keep(early, "three")
    assert "three" == Store(tmp_path).response(REQUEST, 1)["text"]
    assert "three" == early.response(REQUEST, 1)["text"]
    keep(early, "four")
    assert "four" == early.response(REQUEST, 1)["text"]


def test_torn_and_broken_lines_are_not_believed(tmp_path: Path) -> None:
    """Half a last line, foreign lines and zeros are skipped; what stands around them is kept."""
    keep(Store(tmp_path), "one")
    (path,) = tmp_path.rglob("*.jsonl")
    whole = path.read_bytes()
    later = whole.replace(b'"at":', b'"at":9').replace(b'"one"', b'"two"')
    assert "two" == _read_after(path, whole + later)
    for end in range(len(later)):
        if end % 17 == 0 or end == len(later) - 1:
            assert "one" == _read_after(path, whole + later[:end])
    junk = b"\0" * 50 + b"\n[1]\n{}\n" + b'{"key":1,"at":2.0}\n' + b"\xff\n"
    assert "one" == _read_after(path, junk + whole + junk)


def _read_after(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return Store(path.parents[1]).response(REQUEST, 1)["text"]


def test_killed_writer(tmp_path: Path) -> None:
    """What was kept before kill -9 is there, and a new writer appends to no file of the dead one."""
    code = (
        "import sys; from pathlib import Path; from regrade.store import Store\n"
        "store = Store(Path(sys.argv[1]))\n"
        "for number in range(10**6):\n"
        f"    store.remember_response({REQUEST!r}, number, {{'text': 'x', 'raw': 'y' * 1000}}, {{}})\n"
        "    print(number, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line == "50\n":
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    process.stdout.close()
    store = Store(tmp_path)
    assert ["x"] * 51 == [store.response(REQUEST, number)["text"] for number in range(51)]
    (dead,) = tmp_path.rglob("*.jsonl")
    size = dead.stat().st_size
    keep(store, "new", 10**7)
    assert size == dead.stat().st_size


@pytest.mark.parametrize(
    ("mode", "first", "second", "count"),
    [("on", False, True, 1), ("off", False, False, 2), ("refresh", False, False, 2)],
)
def test_modes(tmp_path: Path, mode: str, first: bool, second: bool, count: int) -> None:
    """`on` asks once; `off` and `refresh` ask every time."""
    with ChatServer([{"text": "one"}, {"text": "two"}]) as server:
        config = model(server.base_url)
        responses = [ask(config, folder=tmp_path, mode=mode) for _ in range(2)]
        assert (first, second, count) == (responses[0].cached, responses[1].cached, server.count)
        kept = {"on": "one", "off": None, "refresh": "two"}[mode]
        if kept is None:
            assert [] == list(tmp_path.iterdir())
        else:
            assert kept == ask(config, folder=tmp_path, mode="only").text
        assert count == server.count


def test_only_never_asks(tmp_path: Path) -> None:
    """A miss in mode `only` names the request's digest and what to do, and the server sees nothing."""
    with ChatServer() as server:
        with pytest.raises(StoreError) as caught:
            ask(model(server.base_url), folder=tmp_path, mode="only", repetition=3)
        assert 0 == server.count
        digest = request_digest(server.base_url, {"model": "m", "stream": True, **_rest()})
    assert f"no stored response for request {digest}, repetition 3" in str(caught.value)
    assert "set `cache: on` in config/config.yaml" in str(caught.value)


def _rest() -> dict:
    return {"messages": HELLO.messages, "stream_options": {"include_usage": True}}


def test_unknown_mode(tmp_path: Path) -> None:
    """A misspelt mode is refused with the value and the choices."""
    with pytest.raises(RegradeError, match="cache: 'onn', expected one of: on, off, refresh, only"):
        Store(tmp_path, "onn")


def test_a_hit_is_the_original_answer(tmp_path: Path) -> None:
    """A hit has the first call's text, tool calls, timings, warnings and what was sent; only `cached` differs."""
    refusal = {"status": 400, "body": {"error": {"message": "unsupported parameter: seed"}}}
    calls = [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]
    answer = {"text": "four 😀", "reasoning": "r", "tool_calls": calls, "usage": {"prompt_tokens": 5}, "delay_s": 0.05}
    request = ChatRequest(HELLO.messages, {"seed": 1})
    with ChatServer([refusal, answer, {"status": 500}]) as server:
        config = model(server.base_url, max_retries=0)
        first, again = (ask(config, request, tmp_path) for _ in range(2))
        assert 2 == server.count
    assert (False, True) == (first.cached, again.cached)
    assert {**vars(first), "cached": None} == {**vars(again), "cached": None}
    assert again.timing.wall_s >= 0.05


def test_repetitions_are_asked_apart(tmp_path: Path) -> None:
    """Each repetition of one request has an answer of its own."""
    with ChatServer([{"text": "one"}, {"text": "two"}]) as server:
        config = model(server.base_url)
        texts = [ask(config, folder=tmp_path, repetition=number).text for number in (1, 2, 1, 2)]
        assert (["one", "two", "one", "two"], 2) == (texts, server.count)


@pytest.mark.parametrize("broken", [{"status": 500}, {"chunks": ["data: {}\n\n"]}, {"body": {"choices": []}}])
def test_errors_are_never_kept(tmp_path: Path, broken: dict) -> None:
    """A failed or cut answer leaves nothing, and the next call asks again."""
    with ChatServer([broken, {"text": "four"}]) as server:
        config = model(server.base_url, max_retries=0)
        with pytest.raises(ProviderError):
            ask(config, folder=tmp_path)
        assert [] == list(tmp_path.rglob("*.jsonl"))
        assert "four" == ask(config, folder=tmp_path).text


def test_tool_results_come_back(tmp_path: Path) -> None:
    """A tool call's result is found under its request, repetition, place and cause, and under nothing else."""
    Store(tmp_path).remember_observation(REQUEST, 1, 0, {"code": "1"}, {"stdout": "1"})
    store = Store(tmp_path)
    assert {"stdout": "1"} == store.observation(REQUEST, 1, 0, {"code": "1"})
    others = [(2, 0, {"code": "1"}), (1, 1, {"code": "1"}), (1, 0, {"code": "2"})]
    assert [None] * 3 == [store.observation(REQUEST, *other) for other in others]
    assert Store(tmp_path, "refresh").observation(REQUEST, 1, 0, {"code": "1"}) is None


def test_full_disk(tmp_path: Path) -> None:
    """When a line does not fit, one clear line says so, and what was kept before is not damaged."""
    code = (
        "import resource, signal, sys; from pathlib import Path; from regrade.store import Store, StoreError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))\n"
        "store = Store(Path(sys.argv[1]))\n"
        "for number in range(9):\n"
        "    try:\n"
        f"        store.remember_response({REQUEST!r}, number, {{'text': 'x' * 900, 'raw': ''}}, {{}})\n"
        "    except StoreError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    messages = done.stdout.splitlines()
    assert messages
    for message in messages:
        assert "a response could not be kept: the disk took only a part of the line. Make room" in message
    store = Store(tmp_path)
    kept = [number for number in range(9) if store.response(REQUEST, number)]
    assert 9 == len(kept) + len(messages)
    assert 0 in kept


def test_entries_are_readable(tmp_path: Path) -> None:
    """A line says what it is: version, kind, endpoint, model, repetition, and a short reply as it came."""
    with ChatServer([{"text": "four"}]) as server:
        ask(model(server.base_url, stream=False), folder=tmp_path)
    (path,) = tmp_path.rglob("*.jsonl")
    entry = json.loads(path.read_text())
    about = {"endpoint": server.base_url, "model": "m", "repetition": 1}
    assert (2, "response", about) == (entry["schema_version"], entry["kind"], entry["about"])
    assert "four" == json.loads(entry["response"]["raw"])["choices"][0]["message"]["content"]
    assert "request_body" not in entry["response"]
    assert path.parent.name == entry["key"][:2]


def test_long_answers_are_kept_small(tmp_path: Path) -> None:
    """A long answer takes less room than its reply, in a stream as well, and comes back as it was."""
    text = "".join(f"Line {number} of an answer: {number * number}. " for number in range(200))
    for stream in (False, True):
        folder = tmp_path / str(stream)
        with ChatServer([{"text": text}]) as server:
            responses = [ask(model(server.base_url, stream=stream), folder=folder) for _ in range(2)]
        assert [text, text] == [response.text for response in responses]
        (path,) = folder.rglob("*.jsonl")
        assert path.stat().st_size < 0.6 * len(text)


def test_entries_of_the_first_form(tmp_path: Path) -> None:
    """An entry that an older version wrote is still the answer: nobody is asked again."""
    with ChatServer([{"text": "four", "reasoning": "r"}]) as server:
        config = model(server.base_url)
        fresh = ask(config)
        kept = {key: value for key, value in dataclasses.asdict(fresh).items() if key not in _NEVER_KEPT}
        raw = base64.b64encode(zlib.compress(json.dumps(fresh.raw).encode())).decode()
        entry = {"key": f"{fresh.digest} 1", "kind": "response", "about": {}, "response": kept, "raw": raw}
        path = tmp_path / fresh.digest[:2] / "old.jsonl"
        path.parent.mkdir()
        path.write_text(json.dumps({"schema_version": 1, "at": 1.5, **entry}) + "\n")
        again = ask(config, folder=tmp_path, mode="only")
        assert 1 == server.count
    assert {**vars(fresh), "cached": True} == vars(again)


_NEVER_KEPT = ("raw", "request_body", "cached", "digest", "top_logprobs")


def test_many_groups_do_not_use_up_descriptors(tmp_path: Path) -> None:
    """Where few files may be open, a process that writes to all groups still has one file in each."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 90, limits[1]))
    try:
        store = Store(tmp_path)
        for number in range(512):
            request = f"{number % 256:02x}" + "0" * 62
            store.remember_response(request, number, {"text": str(number), "raw": ""}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert 256 == len(list(tmp_path.rglob("*.jsonl")))
    for reader in (store, Store(tmp_path)):
        assert ["7", "263"] == [reader.response("07" + "0" * 62, number)["text"] for number in (7, 263)]


def test_forked_child_writes_to_a_file_of_its_own(tmp_path: Path) -> None:
    """What a child process keeps goes to another file than its parent's."""
    store = Store(tmp_path)
    keep(store, "one", 1)
    child = os.fork()
    if not child:
        keep(store, "two", 2)
        os._exit(0)
    os.waitpid(child, 0)
    keep(store, "three", 3)
    assert 2 == len(list(tmp_path.rglob("*.jsonl")))
    assert ["one", "two", "three"] == [Store(tmp_path).response(REQUEST, number)["text"] for number in (1, 2, 3)]
    assert "three" == store.response(REQUEST, 3)["text"]


def test_server_as_a_process(tmp_path: Path) -> None:
    """The scripted server also runs on its own and counts what it was asked."""
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps([{"text": "four"}, {"when": "other", "text": "five"}]))
    script = Path(__file__).with_name("chat_server.py")
    command = [sys.executable, str(script), "--answers", str(answers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            config = model(f"http://127.0.0.1:{int(process.stdout.readline())}/v1")
            other = ChatRequest([{"role": "user", "content": "other"}])
            assert ["four", "five"] == [ask(config, request).text for request in (HELLO, other)]
            assert 2 == _get(config.base_url, "/count")
            assert "other" == _get(config.base_url, "/requests")[1]["body"]["messages"][0]["content"]
        finally:
            process.kill()


def _get(base_url: str, path: str) -> object:
    from urllib.request import urlopen

    with urlopen(base_url.removesuffix("/v1") + path) as reply:
        return json.load(reply)


def test_nothing_is_hidden_in_helpers() -> None:
    """The helper that expects an error fails when there is none."""
    with pytest.raises(AssertionError, match="expected a ProviderError"):
        fail_scripted([{"text": "fine"}])


def test_threads_share_a_store(tmp_path: Path) -> None:
    """Judges and scorers ask from many threads: every answer is kept whole, and found while others are written."""
    store = Store(tmp_path)

    def work(thread: int) -> list[bool]:
        found = []
        for number in range(100):
            request = f"{number % 16:02x}{thread:02x}{number:060x}"
            store.remember_response(request, 1, {"text": f"{thread}-{number}", "raw": "x" * 2000}, {"model": "m"})
            kept = store.response(request, 1)
            found.append(kept is not None and kept["text"] == f"{thread}-{number}")
        return found

    with ThreadPoolExecutor(8) as pool:
        assert [[True] * 100] * 8 == list(pool.map(work, range(8)))
    again = Store(tmp_path)
    assert all(again.response(f"{n % 16:02x}{t:02x}{n:060x}", 1) for t in range(8) for n in range(100))
