"""Scoring lines by the tables of benchpacks."""

from pathlib import Path
from typing import Any

from regrade.cli.scoring.judges import judge_of
from regrade.errors import RegradeError, UsageError
from regrade.judge import Judge
from regrade.scorers import benchpack as scorers


class Scorer:
    """Scores one line after the other."""

    REQUIRED: tuple[str, ...] = ("id", "scoring", "output")

    def __init__(self, models: Path, judge: str | None) -> None:
        self._models = models
        self._judge = judge

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The scoring object, or what is wrong with the table."""
        output, prompt = asked["output"], asked.get("prompt", "")
        try:
            if not isinstance(output, str) or not isinstance(prompt, str):
                raise UsageError(f"output is {output!r:.100}, prompt {prompt!r:.100}, expected strings")
            judge = self._judge_of(asked["scoring"])
            return {"scoring": scorers.score(asked["scoring"], output, asked.get("schema"), judge, prompt)}
        except RegradeError as error:
            return {"error": str(error)}

    def _judge_of(self, scoring: Any) -> Judge | None:
        if not isinstance(scoring, dict) or scoring.get("mode") != "llm-judge":
            return None
        return judge_of(self._models, scoring.get("judge", self._judge))
