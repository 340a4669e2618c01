"""Secrets are taken out of texts by their shapes."""

import pytest

from regrade.formats.selfbench.redaction import kinds, redact
from selfbench_tasks import vectors


@pytest.mark.parametrize("row", [pytest.param(row, id=row["input"]) for row in vectors("redaction")])
def test_vectors(row):
    """Each shape has its own mark."""
    assert row["output"] == redact(row["input"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mysql://root:x@h/db and more", "[REDACTED DATABASE URL] and more"),
        ("PASSWORD=a;b", "password=[REDACTED];b"),
        ("export GITHUB_TOKEN=abc", "export GITHUB_TOKEN=[REDACTED]"),
        ("Authorization: Bearer abcdefgh.ijk", "Authorization: Bearer [REDACTED]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx", "[REDACTED]\nx"),
        ("github_pat_" + "a" * 30, "github_[REDACTED]"),
        ("passwordless, keyboard = 3, https://h/db, ghp_short", "passwordless, keyboard = 3, https://h/db, ghp_short"),
    ],
)
def test_more_shapes(text, expected):
    """And words that only look like them."""
    assert expected == redact(text)


def test_twice_is_as_good_as_once():
    """The marks themselves are no secrets."""
    text = " ".join(row["input"] for row in vectors("redaction"))
    assert redact(text) == redact(redact(text))


def test_passwords_of_examples_are_no_reason_for_a_warning():
    """Tokens are."""
    assert ["a token of npm"] == kinds("password=abc npm_" + "a" * 20)
