"""Which suite tasks are asked together: those of a set, or of a collection, under one arm, in shards."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from regrade.layout import AnswerPaths, RunPaths
from regrade.plan.task import Task, Trial

SHARD_SIZE = 2500
"""The number of tasks up to which a shard is not split: one more job costs about as much as 900 answers."""


@dataclass(frozen=True)
class Selection:
    """The prompt-only tasks of a set or, if `set` is empty, of a collection's run, under one arm."""

    arm: str
    set: str = ""
    collection: str = ""

    def paths(self, results: Path, name: str) -> AnswerPaths:
        """Where the answers to one of its shards lie."""
        if self.set:
            folder = results / self.set
            return AnswerPaths(folder / "raw" / self.arm, folder / "grade" / self.arm, name)
        folder = RunPaths(results, self.arm, "suite", self.collection).folder
        return AnswerPaths(folder / "raw", folder / "grade", name)


def shards(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """Trials by the name of their shard (`shard-<number>-of-<count>`), all of a task in one, their order kept.

    The count is the smallest power of two by which the tasks make shards of 2,500 on average, so that one task more
    moves no other but when it doubles.
    """
    trials = list(trials)
    tasks = {trial.task.id for trial in trials}
    count = 1
    while len(tasks) > SHARD_SIZE * count:
        count *= 2
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        found.setdefault(f"shard-{_place(trial.task, count) + 1}-of-{count}", []).append(trial)
    return dict(sorted(found.items(), key=lambda item: int(item[0].split("-")[1])))


def _place(task: Task, count: int) -> int:
    if count == 1:
        return 0
    digest = hashlib.sha256(task.id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) % count
