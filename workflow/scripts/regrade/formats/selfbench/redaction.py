"""Secrets taken out of texts that are kept or shown: by their shapes, since nobody says which they are.

`regrade.models.redaction` knows the keys that it looks for; here are only what keys and passwords look like.
"""

import re

_MARK = "[REDACTED]"

_SHAPES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "a private key",
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
        _MARK,
    ),
    (
        "a database's address",
        re.compile(
            r"\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver)(?:\+\w+)?://[^\s\"'`<>]+"
        ),
        "[REDACTED DATABASE URL]",
    ),
    ("a token of GitHub", re.compile(r"\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}"), f"github_{_MARK}"),
    ("a token of npm", re.compile(r"\bnpm_[A-Za-z0-9]{20,}"), f"npm_{_MARK}"),
    ("a token of GitLab", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}"), f"glpat-{_MARK}"),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,}"), f"sk-{_MARK}"),
    ("a bearer token", re.compile(r"(?i)\b(bearer)\s+[\w.~+/=-]{8,}"), rf"\1 {_MARK}"),
    (
        "a secret variable",
        re.compile(r"\b([A-Z][A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIAL|KEY)[A-Z0-9_]*)\s*[=:]\s*[^\s,;]+"),
        rf"\1={_MARK}",
    ),
    (
        "a password",
        re.compile(r"(?i)\b(?:password|passwd|pwd)\b\s*[:=]\s*[^\s,;]+"),
        f"password={_MARK}",
    ),
)

_UNMISTAKABLE = {"a private key", "a token of GitHub", "a token of npm", "a token of GitLab"}


def redact(text: str) -> str:
    """The text with a mark in the place of each thing that has the shape of a secret."""
    for _, shape, mark in _SHAPES:
        text = shape.sub(mark, text)
    return text


def kinds(text: str) -> list[str]:
    """What unmistakable secrets a text holds, in words. Passwords of examples and of test databases are none."""
    return [kind for kind, shape, _ in _SHAPES if kind in _UNMISTAKABLE and shape.search(text)]
