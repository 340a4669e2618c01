"""Mode `regex`: Python's `re.search(pattern, answer)`, no flags but those in the pattern, within a time limit."""

import re
from typing import Any

from regrade.scorers.benchpack.scored import Scored, ScoringFault, decided, wanted_text, with_error
from regrade.scorers.bounded import BoundedError, run_bounded

CPU_S = 5.0


def score(scoring: dict[str, Any], output: str) -> Scored:
    """Raises ScoringFault for a pattern that is missing or none. A search without an end is a `grader_error`."""
    pattern = wanted_text(scoring, "pattern")
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ScoringFault(f"scoring mode 'regex': pattern {pattern!r:.100} is not valid: {error}") from error
    try:
        found = run_bounded(lambda: compiled.search(output) is not None, CPU_S)
    except BoundedError as error:
        return with_error("regex", False, "grader_error", f"searching with pattern {pattern!r:.100} {error}")
    return decided("regex", found, f"nothing in the answer matches {pattern!r:.200}")
