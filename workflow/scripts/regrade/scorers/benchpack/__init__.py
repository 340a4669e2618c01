"""Scoring the text of an answer by a scoring table: one module a mode, each with `score(...) -> Scored`.

contains, equals    the text in `expected`
regex               the pattern in `pattern`, within a time limit
json_schema         a parsed JSON schema, full 2020-12
llm_judge           a model's verdict
"""

from collections.abc import Mapping
from typing import Any

from regrade.judge import Judge
from regrade.nearest import nearest
from regrade.scorers.benchpack import contains, equals, json_schema, llm_judge, regex
from regrade.scorers.benchpack.scored import NoJudgeFault, Scored, ScoringFault

MODES = ("contains", "equals", "json-schema", "llm-judge", "none", "regex", "verify-script")

__all__ = ["MODES", "NoJudgeFault", "Scored", "ScoringFault", "assess", "score"]


def score(
    scoring: dict[str, Any] | None, output: str, schema: Any = None, judge: Judge | None = None, prompt: str = ""
) -> dict[str, Any] | None:
    """The `scoring` object of a row; None where nothing is scored. Raises ScoringFault."""
    scored = assess(scoring, output, schema, judge, prompt)
    return scored.row if scored else None


def assess(
    scoring: dict[str, Any] | None, output: str, schema: Any = None, judge: Judge | None = None, prompt: str = ""
) -> Scored | None:
    """The same with its reason. `schema` is the parsed file of mode json-schema, `prompt` what a judge is shown."""
    if scoring is None or scoring == {} or _mode(scoring) == "none":
        return None
    match scoring["mode"]:
        case "contains":
            return contains.score(scoring, output)
        case "equals":
            return equals.score(scoring, output)
        case "regex":
            return regex.score(scoring, output)
        case "json-schema":
            return json_schema.score(schema, output)
        case "llm-judge":
            return llm_judge.score(scoring, output, prompt, judge)
    raise ScoringFault("scoring mode 'verify-script' scores no text, expected it only on a case of kind repo-task")


def _mode(scoring: Any) -> str:
    if not isinstance(scoring, Mapping):
        raise ScoringFault(f"scoring is {scoring!r:.100}, expected a table with a mode")
    mode = scoring.get("mode")
    if mode is None:
        raise ScoringFault(f"scoring has no 'mode', expected one of: {', '.join(MODES)}")
    if mode not in MODES:
        hint = nearest(str(mode), MODES) or f", expected one of: {', '.join(MODES)}"
        raise ScoringFault(f"unknown scoring mode {mode!r:.100}{hint}")
    return str(mode)
