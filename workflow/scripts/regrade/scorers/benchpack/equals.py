"""Mode `equals`: the answer is the text `expected`, blanks and line ends around both apart."""

from typing import Any

from regrade.scorers.benchpack.scored import Scored, decided, wanted_text


def score(scoring: dict[str, Any], output: str) -> Scored:
    """Raises ScoringFault without `expected`."""
    expected = wanted_text(scoring, "expected").strip()
    return decided("equals", output.strip() == expected, f"the answer is not {expected!r:.200}")
