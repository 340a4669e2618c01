"""What came of suite tasks that were asked many at once, by trial: answers and verdicts, from shards and data sets."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from regrade import row_file
from regrade.formats.suite import request
from regrade.layout import AnswerPaths
from regrade.plan import Plan, Selection, Trial
from regrade.record import NOTHING
from regrade.row_file import Key, Row

_Found = tuple[Path, dict[Key, Row], dict[Key, Row]]


class Answers:
    """Reads the shards of some selections, each once."""

    def __init__(self, plan: Plan, selections: Iterable[Selection]) -> None:
        self._plan = plan
        self._paths: dict[tuple[str, str], AnswerPaths] = {}
        self._read: dict[Path, _Found] = {}
        for selection in selections:
            for name, trials in plan.shards(selection).items():
                paths = selection.paths(plan.results, name)
                self._paths |= {(selection.arm, trial.task.id): paths for trial in trials}

    def of(self, trial: Trial) -> Iterator[tuple[Trial, Path, dict[str, Any], dict[str, Any]]]:
        """The trial, the file of its verdict, how it went, and the verdict; of a data set those of every row."""
        if trial.task.source.is_dataset:
            for of in self._plan.suite.rows(trial):
                yield self._result(of, self._plan.suite.dataset_paths(trial))
        else:
            yield self._result(trial, self._paths[trial.arm, trial.task.id])

    def _result(self, trial: Trial, paths: AnswerPaths) -> tuple[Trial, Path, dict[str, Any], dict[str, Any]]:
        path, raw, grades = self._load(paths)
        answers = [raw[trial.task.id, sample] for sample in self._plan.suite.samples(trial)]
        grade = grades[trial.task.id, trial.repetition]
        made_of = {"task": self._plan.suite.task_digest(trial.task), "request": answers[0]["digests"]["request"]}
        outcome = outcome_of(answers)
        if answers[0].get("adapter"):
            unsent = request.unsent(trial.task.source, answers[0]["adapter"])
            outcome["warnings"] = [*outcome["warnings"], *unsent]
        return trial, path, outcome, {**grade, **_sandbox(grade), "digests": {**made_of, **grade["digests"]}}

    def _load(self, paths: AnswerPaths) -> _Found:
        if paths.grade not in self._read:
            self._read[paths.grade] = (paths.grade, row_file.read(paths.raw), row_file.read(paths.grade))
        return self._read[paths.grade]


def _sandbox(grade: Row) -> dict[str, Any]:
    return {"sandbox": grade["about"].get("sandbox"), "in_process": bool(grade["about"].get("in_process"))}


def outcome_of(answers: list[Row]) -> dict[str, Any]:
    """How a trial of one answer, or of several samples, went: counts added up, warnings each once."""
    several = [_whole(row) for row in answers]
    if len(several) == 1:
        return several[0]
    tokens = {name: _total([row["tokens"][name] for row in several]) for name in NOTHING["tokens"]}
    return {
        **several[-1],
        "tokens": tokens,
        "timing": {**NOTHING["timing"], "wall_s": _total([row["timing"]["wall_s"] for row in several])},
        "turns": sum(row["turns"] for row in several),
        "cached": all(row["cached"] for row in several),
        "warnings": list(dict.fromkeys(said for row in several for said in row["warnings"])),
    }


def _whole(row: Row) -> Row:
    """A row with what it leaves out."""
    parts = {name: {**NOTHING[name], **row.get(name, {})} for name in ("timing", "tokens")}
    return {**NOTHING, **row, **parts}


def _total(values: list[Any]) -> Any:
    return None if None in values or not values else sum(values)
