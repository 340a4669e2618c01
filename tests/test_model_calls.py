"""What counts of the model calls that an external agent says it made."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_support import vectors
from regrade import model_calls
from regrade.errors import RegradeError

MINIMAL = {"schema_version": 1, "sequence": 1, "model": "m", "ok": True}


def summary_of(*rows: dict[str, Any]) -> dict[str, Any]:
    return model_calls.summarise("".join(f"{json.dumps(row)}\n" for row in rows))


def is_valid(**fields: Any) -> bool:
    return model_calls.parse(json.dumps({**MINIMAL, **fields})) is not None


@pytest.mark.parametrize("vector", vectors("model-calls"), ids=lambda vector: vector["id"])
def test_vectors(vector: dict[str, Any]) -> None:
    """Every known answer of the format holds."""
    assert vector["expected"] == model_calls.summarise("\n".join(vector["input"]["lines"]))


def test_a_summary_counts_lists_and_adds_up() -> None:
    """Labels stand in the order in which they were first seen, sums are over the calls that give a number."""
    found = summary_of(
        {**MINIMAL, "model": "b", "duration_s": 0.5, "prompt_tokens": 3, "endpoint": "local", "finish_reason": "stop"},
        {**MINIMAL, "model": "a", "ok": False, "error": "timed out", "duration_s": 2, "endpoint": None},
        {**MINIMAL, "model": "b", "prompt_tokens": 4, "cached_prompt_tokens": 0, "error": ""},
        {**MINIMAL, "api_key": "sk-not-to-be-seen"},
    )
    assert (4, 3, 1, 2, 1, 1) == tuple(
        found[name] for name in ("calls", "valid", "invalid", "ok", "failed", "error_count")
    )
    assert (["b", "a"], ["local"], ["stop"]) == (found["models"], found["endpoints"], found["finish_reasons"])
    assert (2.5, 7, None, 0) == tuple(
        found[name] for name in ("duration_s", "prompt_tokens", "output_tokens", "cached_prompt_tokens")
    )
    assert "sk-not-to-be-seen" not in json.dumps(found)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema_version", True), ("schema_version", 1.0), ("schema_version", 2), ("sequence", 1.0), ("ok", 1),
        ("model", "a\ud800"), ("model", "a\nb"), ("model", "a\u2028b"), ("endpoint", "http://h"), ("duration_s", -1),
        ("duration_s", "1"), ("duration_s", None), ("prompt_tokens", True), ("output_tokens", 1.0),
        ("output_tokens", 10**400), ("duration_s", 10**400), ("error", ["x"]),
    ],
)  # fmt: skip
def test_a_field_of_another_kind_makes_a_line_invalid(field: str, value: Any) -> None:
    """Booleans and floats are no integers, null is no number, a number beyond 2**53 is none that can be added up."""
    assert not is_valid(**{field: value})


@pytest.mark.parametrize(
    "fields", [{"adapter": None}, {"error": ""}, {"duration_s": 0}, {"model": "x" * 200}, {"model": "ein Modell ü"}]
)
def test_what_may_stand_in_a_line(fields: dict[str, Any]) -> None:
    """Optional texts may be null or empty, texts may have 200 characters, plain blanks and letters of any language."""
    assert is_valid(**fields)


@pytest.mark.parametrize("line", ["{", "NaN", '{"schema_version": NaN}', "[" * 100_000, "null", '"text"'])
def test_a_line_that_is_no_object_is_counted_and_nothing_more(line: str) -> None:
    """Broken, deeply nested and non-standard JSON is an invalid call; blank lines are no calls at all."""
    found = model_calls.summarise(f"\n \r\n{line}\n")
    assert (1, 0, 1) == (found["calls"], found["valid"], found["invalid"])


def test_a_file_that_is_missing_or_not_utf8(tmp_path: Path) -> None:
    """Without a file there is no summary; one in another encoding is refused by name and place."""
    path = tmp_path / "rep-001.model-calls.jsonl"
    assert model_calls.summarise_file(path) is None
    path.write_bytes(b'{"model": "caf\xe9"}\n')
    with pytest.raises(RegradeError, match="is not UTF-8 at byte 14"):
        model_calls.summarise_file(path)
