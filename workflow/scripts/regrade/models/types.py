"""What is asked of a model, what comes back, and how a call can fail."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from regrade.errors import RegradeError


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
        retryable: bool = False,
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
        super().__init__(kind, url, what)

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
    stream_usage: str = "include"
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
    def from_config(cls, name: str, entry: Mapping[str, Any]) -> "ModelConfig":
        """An entry that models.entries found no fault in."""
        known = {item.name for item in fields(cls)}
        return cls(name=name, **{key: value for key, value in entry.items() if key in known})


@dataclass(frozen=True)
class ChatRequest:
    """Messages and tools in the form of chat completions, whatever protocol they are sent in.

    `parameters` win over the model's own `request`, objects key by key; a parameter of None is not sent.
    """

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
    top_logprobs: list[tuple[str, float]] | None = None
    """Candidates for the first token with their log-probabilities, None unless they were asked for and came."""


@dataclass(frozen=True)
class ChatResponse(Answer):
    """An answer with its history. `raw` is the reply's body, or the data fields (lines) of its stream: from it the
    protocol's `answer_of` reads the same answer again, but for `strip_thinking`.

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
