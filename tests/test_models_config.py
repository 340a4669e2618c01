"""A model's entry is checked key by key, and its prices never turn unknown into nothing."""

import math

import pytest

from regrade.models.entries import faults
from regrade.models.prices import cost_usd
from regrade.models.types import ModelConfig, Usage

GOOD = {"adapter": "openai-chat", "model": "m", "base_url": "http://127.0.0.1:1/v1"}
PRICES = {"input": 2.0, "cached_input": 0.5, "output": 10.0}


def test_whole_entry() -> None:
    """Every key of an entry is taken over, and the name is the entry's."""
    entry = {
        **GOOD,
        "adapter": "openai-chat",
        "request": {"temperature": 0, "seed": 1},
        "stream": False,
        "stream_usage": "omit",
        "api_key_env": "KEY",
        "connect_timeout_s": 1,
        "read_timeout_s": 2.5,
        "total_timeout_s": 3,
        "max_retries": 0,
        "retry_wait_s": 0,
        "retry_wait_max_s": 5,
        "retry_wait_limit_s": 6,
        "strip_thinking": True,
        "prices": PRICES,
    }
    assert ModelConfig(name="mine", **entry) == ModelConfig.from_config("mine", entry)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"modle": "x"}, "a.modle: unknown key; did you mean 'model'?"),
        ({"model": ""}, "a.model: is ''"),
        ({"model": None}, "a.model: is None: None is not of type 'string'"),
        ({"base_url": None}, "a.base_url: is None: None is not of type 'string'"),
        ({"base_url": "127.0.0.1:8000"}, "a.base_url: is '127.0.0.1:8000', expected http://HOST[:PORT]/PATH"),
        ({"base_url": "http://h:99999/v1"}, "a.base_url: is 'http://h:99999/v1', expected http://HOST[:PORT]/PATH"),
        ({"adapter": "other"}, "a.adapter: is 'other': 'other' is not one of ['openai-chat', 'openai-responses', "),
        ({"thinking": False}, "a.thinking: is False: False is not one of ['tags', 'none']"),
        ({"adapter": "ollama-chat", "runtime": {"engine": "xllamacpp"}}, "a.adapter: is 'ollama-chat', expected "),
        ({"request": {"instructions": "x"}}, "a.request.instructions: is written by Regrade"),
        ({"stream": "yes"}, "a.stream: is 'yes': 'yes' is not of type 'boolean'"),
        ({"stream_usage": True}, "a.stream_usage: is True: True is not one of ['include', 'omit']"),
        ({"read_timeout_s": 0}, "a.read_timeout_s: is 0: 0 is less than or equal to the minimum of 0"),
        ({"read_timeout_s": math.inf}, "a.read_timeout_s: is inf, expected a finite number"),
        ({"retry_wait_s": -1}, "a.retry_wait_s: is -1: -1 is less than the minimum of 0"),
        ({"max_retries": True}, "a.max_retries: is True: True is not of type 'integer'"),
        ({"request": {"stream": False}}, "a.request.stream: is written by Regrade"),
        ({"request": {"n": 4}}, "a.request.n: is written by Regrade"),
        ({"request": {"temperature": math.nan}}, "a.request.temperature: is nan, expected a finite number"),
        ({"request": [1]}, "a.request: is [1]: [1] is not of type 'object'"),
        ({"prices": {**PRICES, "output": math.nan}}, "a.prices.output: is nan, expected a finite number"),
        ({"prices": {**PRICES, "input": -1}}, "a.prices.input: is -1: -1 is less than the minimum of 0"),
        ({"prices": {"input": 1}}, "a.prices: is {'input': 1}: 'output' is a required property"),
        ({"prices": {**PRICES, "total": 1}}, "a.prices.total: unknown key"),
        ({"runtime": {"engine": "xllamacpp"}}, "a.base_url: stands beside runtime"),
        ({"runtime": {"engine": "vllm"}}, "a.runtime.engine: is 'vllm': 'vllm' is not one of ['xllamacpp']"),
        ({"runtime": {"engine": "xllamacpp", "context_tokens": 0}}, "a.runtime.context_tokens: is 0: 0 is less than"),
    ],
)
def test_faults_of_an_entry(change: dict, message: str) -> None:
    """A fault names the file, the key, the value and what was expected."""
    found = faults({"a": {**GOOD, **change}}, "my/models.yaml")
    assert f"my/models.yaml: {message}" in "\n".join(map(str, found))


def test_an_entry_needs_an_address_or_a_runtime() -> None:
    """An entry with neither is told what an address looks like."""
    told = faults({"a": {"adapter": "openai-chat", "model": "m"}}, "my/models.yaml")
    assert [
        "my/models.yaml: a.base_url: is missing, expected the server's address such as http://127.0.0.1:8000/v1"
    ] == [str(fault) for fault in told]


def test_ollama_has_a_usual_address() -> None:
    """An entry for Ollama needs no address, one for the Responses protocol does."""
    entries = {name: {"adapter": name, "model": "m"} for name in ("ollama-chat", "openai-responses")}
    assert ["openai-responses.base_url"] == [fault.field for fault in faults(entries, "my/models.yaml")]


def test_names_that_differ_only_by_signs_are_refused() -> None:
    """A model's name is also that of a Snakemake resource, which has letters, digits and _ alone."""
    told = "\n".join(map(str, faults({"a-b": GOOD, "a.b": GOOD}, "models.yaml")))
    assert "models.yaml: a.b: differs from 'a-b' only by signs" in told


def test_all_faults_at_once() -> None:
    """One call reports everything that is wrong."""
    entry = {"base_url": "x", "stream": 1, "max_retries": -1, "prices": {"input": "free"}}
    assert 7 == len(faults({"a": entry}, "models.yaml"))


@pytest.mark.parametrize(
    ("prices", "usage", "expected"),
    [
        (PRICES, Usage(1_000_000, 100_000), 3.0),
        (PRICES, Usage(1_000_000, 0, cached_prompt=400_000), 1.4),
        (PRICES, Usage(1_000_000, 100_000, reasoning=90_000), 3.0),
        (PRICES, Usage(10, 0, cached_prompt=10), 5e-06),
        ({"input": 2.0, "output": 10.0}, Usage(1_000_000, 0, cached_prompt=400_000), 2.0),
        ({"input": 0.0, "output": 0.0}, Usage(5, 5), 0.0),
        (None, Usage(5, 5), None),
        (PRICES, Usage(None, 5), None),
        (PRICES, Usage(5, None), None),
    ],
)
def test_cost(prices: dict | None, usage: Usage, expected: float | None) -> None:
    """Each token is paid once; free is 0.0; an unknown price or count is unknown."""
    cost = cost_usd(prices, usage)
    assert (expected is None) == (cost is None)
    assert cost == (None if expected is None else pytest.approx(expected))
