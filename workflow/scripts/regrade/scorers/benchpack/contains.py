"""Mode `contains`: the answer holds the text `expected`, letter by letter."""

from typing import Any

from regrade.scorers.benchpack.scored import Scored, decided, wanted_text


def score(scoring: dict[str, Any], output: str) -> Scored:
    """Raises ScoringFault without `expected`."""
    expected = wanted_text(scoring, "expected")
    return decided("contains", expected in output, f"the answer does not contain {expected!r:.200}")
