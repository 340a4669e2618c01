"""Names that people chose, as names of files."""

import pytest

from regrade.slugs import slugs

ODD = [
    "a/b",
    "a_b",
    "..",
    "-rf",
    "Foo",
    "foo",
    "x y",
    "{x}",
    "é",
    "x" * 300,
    "con",
    "a.b",
    "sample_1_1_1",
    "",
    "a\nb",
    ".",
]


def test_every_name_gets_a_safe_name_of_its_own() -> None:
    """Also on a disk that does not know upper case from lower."""
    found = slugs(ODD)
    assert ODD == list(found)
    assert len(ODD) == len({slug.casefold() for slug in found.values()})
    for slug in found.values():
        assert slug.isascii()
        assert not set(slug) & set("/\\{}*? \n")
        assert slug[0].isalnum() or slug[0] == "_"
        assert len(slug) <= 100


@pytest.mark.parametrize("name", ["a_b", "a.b", "sample_1_1_1", "math-add_2", "Foo"])
def test_a_plain_name_stays_as_it_is(name: str) -> None:
    """Where no other differs from it only by case."""
    assert {name: name} == slugs([name])
