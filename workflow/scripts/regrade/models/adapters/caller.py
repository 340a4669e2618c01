"""Asking a model's server for measured answers, each question once."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from regrade.models import adapters, embedded
from regrade.models.adapters import Question, Reading
from regrade.models.adapters.post import post
from regrade.models.keys import read_key, request_headers
from regrade.models.redaction import Secrets, clean_url
from regrade.models.types import ModelConfig


@dataclass(frozen=True)
class Exchange:
    """One call: where it went, what was sent, what came, how long it took in seconds, connecting included."""

    endpoint: str
    request: dict[str, Any]
    reading: Reading
    wall_s: float


def question_for(model: ModelConfig, prompt: str, defaults: Mapping[str, Any]) -> Question:
    """A prompt with all that decides its request's body."""
    return Question(model.model, prompt, defaults, model.request, model.stream_usage)


class Caller:
    """Asks one server; made by `open_caller`. Every call has a connection of its own."""

    def __init__(self, model: ModelConfig, base_url: str, key: str | None) -> None:
        self._model = model
        self._adapter = adapters.load(model.adapter)
        self._url = self._adapter.address(base_url)
        self._secrets = Secrets(key, base_url)
        # The port of an embedded model is another one every time, so its name stands for it.
        self.endpoint = clean_url(self._url) if model.runtime is None else embedded.endpoint(model.runtime)
        self._headers = request_headers(key)

    def ask(self, question: Question) -> Exchange:
        """One call, whatever comes of it."""
        body = self._adapter.build_body(question)
        data = json.dumps(body).encode()
        reply = post(self._url, data, self._headers, self._model.connect_timeout_s, self._model.total_timeout_s)
        reading = self._redacted(self._adapter.read(reply, question))
        return Exchange(self.endpoint, body, reading, reply.wall_s)

    def _redacted(self, reading: Reading) -> Reading:
        clean = self._secrets.redact
        return replace(
            reading,
            raw=self._secrets.redact_value(reading.raw),
            error=clean(reading.error),
            text=clean(reading.text),
            reasoning=clean(reading.reasoning),
        )


@contextmanager
def open_caller(model: ModelConfig, threads: int) -> Iterator[Caller]:
    """Somebody to ask while the block lasts. Raises RegradeError for a missing key and for weights that do not load.

    `threads` are those of an embedded model, which runs in this process.
    """
    if model.runtime is not None:
        with embedded.serve(model.runtime, threads) as base_url:
            yield Caller(model, base_url, None)
    else:
        yield Caller(model, model.base_url or adapters.load(model.adapter).DEFAULT_ADDRESS, read_key(model))
