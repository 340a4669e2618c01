"""Telling apart the ways in which a server says no."""

import json
import re
from collections.abc import Mapping
from typing import Any

from regrade.models.backoff import read_retry_after
from regrade.models.redaction import Secrets
from regrade.models.types import ProviderError

_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits"}
_QUOTA = re.compile(
    r"exceeded your current quota|insufficient (?:quota|credit|balance|funds)|out of credits?|credit balance|billing",
    re.IGNORECASE,
)
_CONTEXT_CODES = {"context_length_exceeded", "exceed_context_size_error"}
_CONTEXT = re.compile(
    r"maximum context length|context (?:length|window|size)[^.]*exceed|exceeds?[^.]*context (?:length|window|size)"
    r"|prompt is too long|too many (?:input )?tokens",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"unsupported|not supported|does not support|unrecognized|unknown (?:parameter|field|argument|name)|unexpected"
    r"|not permitted|not allowed|extra (?:inputs|fields)|deprecated",
    re.IGNORECASE,
)
_DESCRIBED = {"tools": re.compile(r"\btool", re.IGNORECASE), "think": re.compile(r"\bthink", re.IGNORECASE)}
_PASSING = {408, 409, 425, 429}


def from_status(
    url: str, status: int, headers: Mapping[str, str], body: bytes, sent: list[str], secrets: Secrets
) -> ProviderError:
    """The error for a reply whose status is not 2xx. `sent` names the parameters that could be left out."""
    error = _error_in(body)
    kind, retryable = _kind(status, error, "Retry-After" in headers)
    parameter = refused_parameter(error, sent) if kind in ("http", "parameter") and status in (400, 422) else None
    if parameter:
        kind = "tools" if parameter == "tools" else "parameter"
    where = f", redirected to {headers.get('Location', '')[:200]}" if kind == "redirect" else ""
    return ProviderError(
        kind,
        url,
        f"HTTP {status}{secrets.redact(where)}{_advice(kind, status)}: {secrets.excerpt(body) or 'empty body'}",
        retryable=retryable,
        status=status,
        retry_after_s=read_retry_after(headers.get("Retry-After")),
        parameter=parameter,
    )


def from_reply(url: str, kind: str, what: str, error: Any, body: bytes, secrets: Secrets) -> ProviderError:
    """The error for a reply with status 200 that is no answer; worth another try unless it says otherwise."""
    fields = _fields(error)
    code = fields.get("code")
    status = code if isinstance(code, int) and 400 <= code <= 599 else 503
    found, retryable = _kind(status, fields, False) if error else (kind, True)
    if found == "http":
        found = kind
    excerpt = secrets.excerpt(body) or "empty body"
    return ProviderError(found, url, f"HTTP 200, but {what}: {excerpt}", retryable=retryable, status=200)


def _kind(status: int, error: Mapping[str, Any], told_to_wait: bool) -> tuple[str, bool]:
    codes = {str(error.get("code")), str(error.get("type"))}
    message = str(error.get("message", ""))
    if codes & _QUOTA_CODES or status == 402 or (status in (403, 429) and not told_to_wait and _QUOTA.search(message)):
        return "quota", False
    if codes & _CONTEXT_CODES or (400 <= status < 500 and status not in _PASSING and _CONTEXT.search(message)):
        return "context_length", False
    if status in (401, 403):
        return "auth", False
    if status == 429:
        return "rate_limited", True
    if 300 <= status < 400:
        return "redirect", False
    return "http", status in _PASSING or (status >= 500 and status != 501)


def _advice(kind: str, status: int) -> str:
    if kind == "auth":
        return " (check the key in the environment variable that api_key_env names)"
    if kind == "quota":
        return " (the account's quota or credit is used up: asking again does not help)"
    if kind == "http" and status == 404:
        return " (check base_url, which usually ends in /v1, and model)"
    if kind == "redirect":
        return " (not followed: put the final address into base_url)"
    return ""


def _error_in(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {"message": body[:2000].decode("utf-8", "replace")}
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, Mapping):
        return {"message": str(value)}
    return _fields(value.get("error") or value)


def _fields(error: Any) -> dict[str, Any]:
    """An error object's code, type, param and message, wherever a server puts the last."""
    if not isinstance(error, Mapping):
        return {"message": "" if error is None else str(error)}
    text = error.get("message") or error.get("detail") or error.get("error") or ""
    return {**error, "message": text if isinstance(text, str) else json.dumps(text)}


def refused_parameter(error: Mapping[str, Any], sent: list[str]) -> str | None:
    """Which of the parameters sent an error object complains about, if it says that it is not supported."""
    message = str(error.get("message", ""))
    code = str(error.get("code"))
    if not (_REFUSED.search(message) or code.startswith(("unsupported", "unknown_parameter"))):
        return None
    param = str(error.get("param") or "")
    for name in (param, param.split(".")[0]):
        if name in sent:
            return name
    named = [
        (match.start(), -len(name), name) for name in sent if (match := re.search(rf"\b{re.escape(name)}\b", message))
    ]
    if named:
        return min(named)[2]
    # "does not support tools", "does not support thinking": the thing is named, and not the parameter.
    described = (name for name, word in _DESCRIBED.items() if name in sent and word.search(message))
    return next(described, None)
