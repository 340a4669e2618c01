"""API keys reach the server and nothing else."""

import subprocess
import sys
import zlib
from base64 import b64decode
from json import loads
from pathlib import Path

import pytest

from chat_server import USAGE, ChatServer, delta
from models_support import ask, model
from regrade.errors import RegradeError
from regrade.models import protocols
from regrade.models.redaction import Secrets, clean_url
from regrade.models.types import ProviderError

KEY = "sk-test-123"


@pytest.fixture
def key(monkeypatch) -> str:
    """A key in the environment."""
    monkeypatch.setenv("TESTED_KEY", f"{KEY}\n")
    return KEY


def test_key_is_sent_and_not_stored(key: str, tmp_path: Path) -> None:
    """The key goes into the header; a server that echoes it in an answer does not get it into the store."""
    chunks = [delta({"content": f"your key is {key}", "reasoning": key}), delta({}, "stop")]
    with ChatServer([{"chunks": chunks}]) as server:
        response = ask(model(server.base_url, api_key_env="TESTED_KEY"), folder=tmp_path)
        assert f"Bearer {key}" == server.requests[0]["headers"]["Authorization"]
    assert ("your key is [redacted]", "[redacted]") == (response.text, response.reasoning)
    assert key not in repr(response)
    (stored,) = tmp_path.rglob("*.jsonl")
    assert key not in stored.read_text()


@pytest.mark.parametrize("stream", [True, False])
def test_key_in_a_long_answer(key: str, stream: bool, tmp_path: Path) -> None:
    """A key is not in what the store compresses either."""
    with ChatServer([{"text": f"{'word ' * 500} {key}"}]) as server:
        ask(model(server.base_url, api_key_env="TESTED_KEY", stream=stream), folder=tmp_path)
    (stored,) = tmp_path.rglob("*.jsonl")
    packed = zlib.decompress(b64decode(loads(stored.read_text())["packed"])).decode()
    assert ("word", False) == (packed[packed.index("word") :][:4], key in packed)


def test_key_in_pieces(key: str, tmp_path: Path) -> None:
    """A key that a stream brings in pieces is neither in the answer, nor in the raw reply put together, nor stored."""
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    pieces = [{"content": "it is sk-te"}, {"content": "st-123 !", "reasoning": "why"}, {"tool_calls": [call]}]
    chunks = [*map(delta, pieces), delta({}, "stop", usage=USAGE)]
    with ChatServer([{"chunks": chunks}]) as server:
        config = model(server.base_url, api_key_env="TESTED_KEY")
        response, again = ask(config, folder=tmp_path), ask(config, folder=tmp_path)
    assert ("it is [redacted] !", "why", 10) == (response.text, response.reasoning, response.usage.prompt)
    assert {**vars(response), "cached": True} == vars(again)
    read = protocols.of("openai-chat").answer_of(response.raw)
    assert {name: getattr(response, name) for name in vars(read)} == vars(read)


@pytest.mark.parametrize("status", [200, 400, 401, 500, 302])
def test_key_in_an_error(key: str, status: int) -> None:
    """A server that echoes the key, or one of its shape, does not get it into a message."""
    body = {"error": {"message": f"Authorization: Bearer {key}, Bearer abcdefghijkl and sk-other12345"}}
    script = [{"status": status, "body": body, "headers": {"Location": f"/?k={key}"}}]
    with ChatServer(script) as server, pytest.raises(ProviderError) as caught:
        ask(model(server.base_url, api_key_env="TESTED_KEY", max_retries=0))
    assert "[redacted]" in str(caught.value)
    for secret in (key, "abcdefghijkl", "sk-other12345"):
        assert secret not in str(caught.value) + repr(caught.value)


def test_key_in_the_address(tmp_path: Path) -> None:
    """A key in the query or before the host is sent, but neither stored, shown nor part of a digest."""
    with ChatServer([{"text": "x"}, {"status": 500, "body": "at /v1?api-key=abcdefgh1234"}]) as server:
        url = f"http://user:passpass99@127.0.0.1:{server.port}/v1?api-key=abcdefgh1234&api-version=2"
        response = ask(model(url, max_retries=0), folder=tmp_path)
        assert "/v1/chat/completions?api-key=abcdefgh1234&api-version=2" == server.requests[0]["path"]
        with pytest.raises(ProviderError) as caught:
            ask(model(url, max_retries=0))
        other = url.replace("abcdefgh1234", "zyxwvuts4321").replace("passpass99", "anotherone")
        assert response.digest == ask(model(other), folder=tmp_path, mode="only").digest
    (stored,) = tmp_path.rglob("*.jsonl")
    for text in (stored.read_text(), str(caught.value)):
        assert "abcdefgh1234" not in text
        assert "passpass99" not in text
    assert "http://h/v1?key=[redacted]&v=2" == clean_url("http://u:p@h/v1?key=1&v=2")


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_missing_key(monkeypatch, value: str | None) -> None:
    """Without the key nothing is asked, and the message names the variable; `only` needs none."""
    monkeypatch.delenv("TESTED_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TESTED_KEY", value)
    with ChatServer() as server:
        with pytest.raises(RegradeError, match=r"environment variable TESTED_KEY.* is not set"):
            ask(model(server.base_url, api_key_env="TESTED_KEY"))
        assert 0 == server.count


def test_key_that_no_header_can_hold(monkeypatch) -> None:
    """A key with a line end inside is refused without being shown."""
    monkeypatch.setenv("TESTED_KEY", "sk-one\nsk-two")
    with pytest.raises(RegradeError, match="TESTED_KEY holds characters") as caught:
        ask(model("http://127.0.0.1:1/v1", api_key_env="TESTED_KEY"))
    assert "sk-one" not in str(caught.value)


def test_placeholder_keys_do_not_damage_answers(monkeypatch) -> None:
    """A short key such as EMPTY is no secret, and the word stays in answers."""
    monkeypatch.setenv("TESTED_KEY", "EMPTY")
    with ChatServer([{"text": "the list is EMPTY"}]) as server:
        assert "the list is EMPTY" == ask(model(server.base_url, api_key_env="TESTED_KEY")).text


def test_redaction_of_escaped_forms() -> None:
    """A key is also found where it stands escaped in JSON or in an address."""
    secrets = Secrets('a"b/c d+e', "http://h")
    assert "[redacted] [redacted]" == secrets.redact('a\\"b/c d+e a%22b%2Fc%20d%2Be')
    assert {"k": ["[redacted]", 1]} == secrets.redact_value({"k": ['a"b/c d+e', 1]})


def test_heavy_imports_are_late() -> None:
    """What only plans or grades can import the models' types and the store without an event loop."""
    modules = "regrade.models.types, regrade.models.prices, regrade.models.embedded, regrade.store"
    code = (
        f"import sys, {modules}; print([m for m in ('aiohttp', 'asyncio', 'logging', 'xllamacpp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
    code = "import sys, regrade.models.client; print('aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False" == done.stdout.strip()
