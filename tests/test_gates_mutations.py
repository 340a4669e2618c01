"""The default wrong artifacts, and what graders written elsewhere import."""

import pytest

from regrade.graders.on_path.swebench import artifact_models, artifact_negative
from regrade.graders.on_path.swebench.artifact_negative import NegativeCase, default_negative_cases

MUTATE = {case.name: case.mutate for case in default_negative_cases()}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("empty", "anything", ""),
        ("truncated_half", "abcdef", "abc"),
        ("truncated_half", "äöü€x", "äö"),
        ("reversed_lines", "a\n\nb\nc\n", "c\nb\na\n"),
        ("reversed_lines", "a\nb", "b\na"),
        ("reversed_lines", "one\n", "one\none\n"),
        ("reversed_lines", "one", "oneone"),
        ("renamed_field", '{"a": 1, "b": 2}\n{"a": 3}', '{"a_renamed": 1, "b": 2}\n{"a_renamed": 3}'),
        ("renamed_field", '{"k" : "k"}', '{"k_renamed" : "k"}'),
        ("renamed_field", '{"a.b": 1, "axb": 2}', '{"a.b_renamed": 1, "axb": 2}'),
        ("off_by_one", "x = 41\n", "x = 42\n"),
        ("off_by_one", "p95 is 7", "p96 is 7"),
        ("off_by_one", "1.50, 2", "2.50, 2"),
        ("off_by_one", "0.05", "1.05"),
        ("off_by_one", "-0.50", "0.50"),
        ("off_by_one", "-3", "-2"),
        ("off_by_one", "-1.25", "-0.25"),
        ("off_by_one", "99999999999999999999.9", "100000000000000000000.9"),
        ("off_by_one", "none", "none1"),
        ("wrap_in_list", "a\n", "[a\n]"),
    ],
)
def test_default_mutations(name: str, text: str, expected: str) -> None:
    """Each default mutation does exactly what the format says."""
    assert expected == MUTATE[name](text)


def test_renamed_field_without_a_key() -> None:
    """Where nothing looks like a key, a line is added that belongs to nothing."""
    changed = MUTATE["renamed_field"]("a,b\n1,2\n")
    assert changed.startswith("a,b\n1,2\n")
    assert changed != "a,b\n1,2\n"


def test_nan_replaces_numbers_and_not_words() -> None:
    """Every number of its own becomes NaN; digits inside words stay."""
    text = '{"a1": 1.5e-3, "b": [1, 2.0, -3], "v": "1.2.3"}\nx9,10\n'
    assert '{"a1": NaN, "b": [NaN, NaN, NaN], "v": "1.2.3"}\nx9,NaN\n' == artifact_negative._mutate_nan_numbers(text)


def test_names_that_graders_import() -> None:
    """Six cases in the usual order, the private names, and both ways to make a result and a case."""
    expected = ["empty", "truncated_half", "reversed_lines", "renamed_field", "off_by_one", "wrap_in_list"]
    assert expected == list(MUTATE)
    for name in ("empty", "truncate_half", "wrap_in_list", "reverse_lines", "rename_one_field"):
        assert callable(getattr(artifact_negative, f"_mutate_{name}"))
    assert artifact_models.GradeResult(True, 1.0, "x") == artifact_models.GradeResult(
        passed=True, score=1.0, detail="x"
    )
    case = NegativeCase(name="x", mutate=str)
    assert ("", True, "") == (case.expected_substring, case.currently_caught, case.notes)
