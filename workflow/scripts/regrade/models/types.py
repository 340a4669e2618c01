"""What is asked of a model, what comes back, and how a call can fail."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from regrade.errors import Fault, FaultsError, RegradeError

ADAPTERS = ("openai-chat",)
NOT_FOR_REQUEST = ("model", "messages", "tools", "stream", "stream_options", "n")
"""Keys of a request's body that Regrade itself writes; an entry's `request:` may not hold them."""

_SECONDS = ("connect_timeout_s", "read_timeout_s", "total_timeout_s")
_WAITS = ("retry_wait_s", "retry_wait_max_s", "retry_wait_limit_s")


class ProviderError(RegradeError):
    """A call that brought no usable answer.

    kind: refused, unreachable, tls, timeout_connect, timeout_read, timeout_total, stream_cut, bad_body, error_body,
    http, redirect, rate_limited, quota, auth, context_length, parameter, tools. `status` is the HTTP status or None,
    `retry_after_s` what the server asked for, `parameter` the one that it refused.
    """

    def __init__(
        self,
        kind: str,
        url: str,
        what: str,
        *,
        retryable: bool,
        status: int | None = None,
        retry_after_s: float | None = None,
        parameter: str | None = None,
        attempts: int = 1,
        waiting_s: float = 0.0,
    ) -> None:
        self.kind = kind
        self.url = url
        self.what = what
        self.retryable = retryable
        self.status = status
        self.retry_after_s = retry_after_s
        self.parameter = parameter
        self.attempts = attempts
        self.waiting_s = waiting_s
        super().__init__(what)

    def __str__(self) -> str:
        if self.attempts == 0:
            return f"{self.url}: not asked any more: {self.what} ({self.kind})"
        times = "1 attempt" if self.attempts == 1 else f"{self.attempts} attempts"
        waited = f", {self.waiting_s:.1f} s spent waiting and retrying" if self.waiting_s else ""
        return f"{self.url}: {self.what} ({self.kind}; {times}{waited})"


@dataclass(frozen=True)
class ModelConfig:
    """One model of config/models.yaml.

    `request` holds parameters that are sent as they are. `read_timeout_s` bounds the time between two reads,
    `total_timeout_s` one attempt, `retry_wait_limit_s` all waiting for one answer. `runtime` makes it an embedded
    model: `base_url` is then unused.
    """

    name: str
    model: str
    base_url: str = ""
    adapter: str = "openai-chat"
    request: dict[str, Any] = field(default_factory=dict)
    stream: bool = True
    stream_usage: bool = True
    api_key_env: str | None = None
    connect_timeout_s: float = 10.0
    read_timeout_s: float = 120.0
    total_timeout_s: float = 600.0
    max_retries: int = 5
    retry_wait_s: float = 1.0
    retry_wait_max_s: float = 60.0
    retry_wait_limit_s: float = 300.0
    strip_thinking: bool = False
    runtime: dict[str, Any] | None = None
    prices: dict[str, float] | None = None

    @classmethod
    def from_config(cls, name: str, entry: Mapping[str, Any], path: str = "config/models.yaml") -> "ModelConfig":
        """An entry as read from YAML. Raises FaultsError with everything that is wrong in it."""
        faults = [Fault(path, f"models.{name}{where}", message) for where, message in _faults_in(entry)]
        if faults:
            raise FaultsError(faults)
        return cls(name=name, **entry)


def _faults_in(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    known = [item.name for item in fields(ModelConfig) if item.name != "name"]
    found = [(f".{key}", f"unknown key, expected one of: {', '.join(known)}") for key in entry if key not in known]
    for key in ("model", "adapter", "base_url", "api_key_env"):
        value = entry.get(key)
        if value is not None and not (isinstance(value, str) and value):
            found.append((f".{key}", f"{value!r}, expected a text that is not empty"))
    if not entry.get("model"):
        found.append((".model", "is missing, expected the name that the server knows the model by"))
    if entry.get("adapter", ADAPTERS[0]) not in ADAPTERS:
        found.append((".adapter", f"{entry['adapter']!r}, expected one of: {', '.join(ADAPTERS)}"))
    for key in ("stream", "stream_usage", "strip_thinking"):
        if not isinstance(entry.get(key, True), bool):
            found.append((f".{key}", f"{entry[key]!r}, expected true or false"))
    return found + _endpoint_faults(entry) + _number_faults(entry) + _mapping_faults(entry)


def _endpoint_faults(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    url = entry.get("base_url")
    if entry.get("runtime") is not None:
        return [(".base_url", "stands beside runtime, expected only one of the two")] if url else []
    if not url:
        return [(".base_url", "is missing, expected the server's address such as http://127.0.0.1:8000/v1")]
    try:
        parts = urlsplit(str(url))
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    return [] if good else [(".base_url", "is no address, expected http://HOST[:PORT]/PATH or https://...")]


def _number_faults(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for key in _SECONDS + _WAITS:
        value = entry.get(key, 1)
        if not is_amount(value) or (key in _SECONDS and value == 0):
            least = "above 0" if key in _SECONDS else "of at least 0"
            found.append((f".{key}", f"{value!r}, expected a number of seconds {least}"))
    retries = entry.get("max_retries", 0)
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        found.append((".max_retries", f"{retries!r}, expected a whole number of at least 0"))
    return found


def _mapping_faults(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    from regrade.models import embedded, prices

    found = []
    for key in ("request", "runtime", "prices"):
        if entry.get(key) is not None and not isinstance(entry[key], Mapping):
            found.append((f".{key}", f"{entry[key]!r}, expected a mapping"))
    if found:
        return found
    for key, value in (entry.get("request") or {}).items():
        if key in NOT_FOR_REQUEST:
            found.append((f".request.{key}", "is written by Regrade, expected only parameters such as temperature"))
        elif isinstance(value, float) and not math.isfinite(value):
            found.append((f".request.{key}", f"{value!r}, expected a finite number"))
    if "request" in entry and entry["request"] is None:
        found.append((".request", "is empty, expected a mapping: leave the key out"))
    found += [(f".prices{where}", text) for where, text in prices.faults(entry.get("prices"))]
    return found + [(f".runtime{where}", text) for where, text in embedded.faults(entry.get("runtime"))]


def is_amount(value: Any) -> bool:
    """Whether a value is a finite number of at least 0; booleans are no numbers."""
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value) and value >= 0


@dataclass(frozen=True)
class ChatRequest:
    """Messages for a model. `parameters` win over the model's own `request`; a parameter of None is not sent."""

    messages: list[dict[str, Any]]
    parameters: dict[str, Any] = field(default_factory=dict)
    tools: list[dict[str, Any]] | None = None


@dataclass(frozen=True)
class Usage:
    """Tokens as the server counted them; None is unknown. Cached ones are part of prompt, reasoning of output."""

    prompt: int | None = None
    output: int | None = None
    cached_prompt: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True)
class Timing:
    """Seconds. wall: the attempt that answered; ttft: to its first piece (None unless streamed); waiting: all else."""

    wall_s: float
    ttft_s: float | None = None
    waiting_s: float = 0.0


@dataclass(frozen=True)
class Answer:
    """What a server's reply says, apart from how it was got. `tool_calls` have id, name and arguments, all text."""

    text: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, str]] = field(default_factory=list)
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Usage = Usage()
    served_model: str | None = None


@dataclass(frozen=True)
class ChatResponse(Answer):
    """An answer with its history. `raw` is the reply's body, or the data fields of its event stream.

    `request_body` is what was really sent, `dropped_parameters` what the server refused and was left out,
    `digest` names the request as asked; timings of a cached response are those of the original call.
    """

    timing: Timing = Timing(0.0)
    request_body: dict[str, Any] = field(default_factory=dict)
    raw: str | list[str] = ""
    dropped_parameters: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    cached: bool = False
    attempts: int = 1
    http_status: int = 200
    digest: str = ""

    @property
    def truncated(self) -> bool:
        """The answer ended at the token limit."""
        return (self.finish_reason or "").lower() in ("length", "max_tokens")

    @property
    def declined(self) -> bool:
        """The model, or its provider's filter, refused to answer."""
        return bool(self.refusal) or self.finish_reason == "content_filter"

    @property
    def empty_content(self) -> bool:
        """There is neither text nor a tool call, whatever the reasoning holds."""
        return not self.text.strip() and not self.tool_calls
