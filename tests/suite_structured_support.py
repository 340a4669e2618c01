"""Scoring single answers by a task's table, and the answers that are known."""

import json
from pathlib import Path
from typing import Any

from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite.assess import Assessed, assess
from regrade.scorers.suite.scored import Response, Tools
from regrade.scorers.suite.thinking import split_thinking

VECTORS = Path(__file__).parent / "vectors" / "suite"


def vectors(kind: str, ours: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The vectors of a scoring type by id, but those for which a test gives our own answer.

    What is questionable must be among `ours`, so that none is left undecided.
    """
    found = {case["id"]: case for case in map(json.loads, (VECTORS / f"{kind}.jsonl").read_text().splitlines())}
    undecided = {name for name, case in found.items() if case.get("questionable")} - set(ours)
    assert not undecided, f"no answer of ours: {sorted(undecided)}"
    return {name: case for name, case in found.items() if name not in ours}


def vector(kind: str, identifier: str) -> dict[str, Any]:
    """One vector."""
    return next(case for case in map(json.loads, (VECTORS / f"{kind}.jsonl").read_text().splitlines())
                if case["id"] == identifier)  # fmt: skip


def task(scoring: dict[str, Any], **fields: Any) -> SuiteTask:
    """A task with a scoring table."""
    return SuiteTask("t", "tested", {"id": "t", "category": "c", "prompt": "Say it.", **fields, "scoring": scoring})


def score(scoring: dict[str, Any], *answers: str | Response, tools: Tools | None = None, **fields: Any) -> Assessed:
    """The verdict on an answer, or on samples, as they come from a model."""
    responses = [answer if isinstance(answer, Response) else Response(*split_thinking(answer)) for answer in answers]
    return assess(task(scoring, **fields), responses, tools or Tools())


def verdict(found: Assessed) -> tuple[float | None, bool | None]:
    """What vectors know of a verdict: the score, and whether it is a pass."""
    return found.score, found.passed


def expected(case: dict[str, Any]) -> tuple[float, bool]:
    """The verdict that a vector knows."""
    return case["expected"]["score"], case["expected"]["passed"]
