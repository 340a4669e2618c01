"""The plan's part for task suites: agent loops, and what is asked at once, in shards or from a data set."""

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from regrade import digests, files
from regrade.errors import StaleError
from regrade.formats.suite import SuiteTask
from regrade.formats.suite.dataset import local_dataset
from regrade.layout import AnswerPaths
from regrade.plan.selection import Selection, shards
from regrade.plan.suite_loops import SuiteLoops
from regrade.plan.suite_tasks import SCORING_CODE, as_task
from regrade.plan.task import Output, Specification, Task, Trial


class SuitePlan(SuiteLoops):
    """Suite tasks with the specifications of all their jobs."""

    def trial_digest(self, trial: Trial) -> str:
        """The digest of what an answer is made from."""
        if trial.task.source.is_loop:
            return self.loop_digest(trial)
        made_of = [self.task_digest(trial.task), self.arm_digest(trial.arm), trial.repetition]
        if self.config.arms[trial.arm]["harness"] == "oracle":
            made_of.append(digests.of_value(self.reference(trial.task)))
        return digests.of_value(made_of)

    def scoring_digest(self, trial: Trial) -> str:
        """The digest of one verdict's making."""
        return digests.of_value([self.trial_digest(trial), self.grade_digests(trial)])

    def shards(self, trials: Iterable[Trial]) -> dict[str, list[Trial]]:
        """Those of the trials that are asked in shards, by shard."""
        return shards(trial for trial in trials if _is_sharded(trial.task))

    def dataset_paths(self, trial: Trial) -> AnswerPaths:
        """Where the answers to the rows of a data set lie."""
        run = self._paths(trial).run
        return AnswerPaths(run / "raw", run / "grade", f"dataset-{trial.task.case}")

    def rows_path(self, task: Task) -> Path:
        """The rows of a data set as tasks."""
        return self._task_paths(task).folder / "rows.jsonl"

    def rows(self, trial: Trial) -> list[Trial]:
        """A trial of a data set as trials of its rows, in their order; the rows must have been made."""
        of = trial.task
        return [
            Trial(as_task(_row_source(of.source, row), of.collection, of.case, row.get("fault", "")), *_which(trial))
            for row in files.read_jsonl(self.rows_path(of))
        ]

    def dataset_spec(self, task: Task) -> Specification:
        """What the `dataset` stage is told."""
        source, paths = task.source, self._task_paths(task)
        digest = self.task_digest(task)
        return {
            "id": task.id,
            "fields": source.fields,
            "file": source.file,
            "output": str(self.rows_path(task)),
            "errors": str(paths.errors),
            "trusted": source.fields["dataset"].get("name") in self.config.trusted_datasets,
            "digest": digest,
            "local": self._local_digest(source),
            "attempt": self._attempts.of(paths.errors, digest),
        }

    def _local_digest(self, source: SuiteTask) -> str | None:
        """The digest of a data set that lies in a local file or folder; None for one that does not."""
        place = local_dataset(source)
        if place is None:
            return None
        return digests.of_folder(place) if place.is_dir() else digests.of_file(place)

    def ask_spec(self, selection: Selection, name: str, trials: list[Trial], paths: AnswerPaths) -> Specification:
        """What the `ask` stage is told: who is asked, and of what is asked a digest."""
        made_of: list[Any] = [[self.task_digest(trial.task), *self.samples(trial)] for trial in trials]
        if self.config.arms[selection.arm]["harness"] == "oracle":
            made_of.append([digests.of_value(self._references_to(trial.task)) for trial in trials])
        return {
            **_told(selection, name),
            "output": str(paths.raw),
            "errors": str(paths.errors),
            "digest": digests.of_value([made_of, self.arm_asked(selection.arm)]),
            "attempt": self._attempts.of_rows(paths.errors, lambda: set(map(self.trial_digest, self._single(trials)))),
        }

    def journal(self, selection: Selection, name: str) -> Path:
        """What was answered to a shard or a data set: the part of the response store that its job writes.

        All who ask the same model keep theirs in one folder, where each finds what others have paid.
        """
        asked = self.arm_asked(selection.arm)
        model = asked.get("model", {})
        whom = [model.get("adapter"), model.get("base_url"), model.get("model"), asked["harness"]]
        folder = self.config.folder("results") / "cache" / "answers" / digests.of_value(whom)[:16]
        return folder / f"{selection.set or 'runs'}~{selection.collection}~{selection.arm}~{name}.jsonl"

    def score_spec(self, selection: Selection, name: str, trials: list[Trial], paths: AnswerPaths) -> Specification:
        """What the `score_answers` stage is told."""
        made_of = [[self.grader_digest(trial.task), *self.samples(trial)] for trial in trials]
        return {
            **_told(selection, name),
            "answers": str(paths.raw),
            "output": str(paths.grade),
            "errors": str(paths.scoring_errors),
            "digest": digests.of_value([made_of, self.thinking(selection.arm), digests.of_code(*SCORING_CODE)]),
            "attempt": self._attempts.of_rows(
                paths.scoring_errors, lambda: set(map(self.scoring_digest, self._single(trials)))
            ),
        }

    def _single(self, trials: Iterable[Trial]) -> Iterator[Trial]:
        """The trials, of a data set those of its rows as far as they are known."""
        for trial in trials:
            yield from self.rows(trial) if trial.task.source.is_dataset else [trial]

    def answer_outputs(self, trials: list[Trial], paths: AnswerPaths) -> list[Output]:
        """The answers to a shard and their verdicts."""

        def answered() -> bool:
            planned = {
                (trial.task.id, sample): self.trial_digest(trial) for trial in trials for sample in self.samples(trial)
            }
            return planned == {
                (row["task"], row["repetition"]): row["digests"]["trial"] for row in files.read_jsonl(paths.raw)
            }

        def scored() -> bool:
            planned = {
                (trial.task.id, trial.repetition): {"trial": self.trial_digest(trial), **self.grade_digests(trial)}
                for trial in trials
            }
            found = {(row["task"], row["repetition"]): row["digests"] for row in files.read_jsonl(paths.grade)}
            return planned.keys() == found.keys() and all(
                found[key].get(name) == digest for key, made in planned.items() for name, digest in made.items()
            )

        return [Output((paths.raw,), answered), Output((paths.grade,), scored)]

    def require(self, spec: Specification, digest: str) -> None:
        """Raises StaleError if what a job finds is not what it was planned for."""
        if spec["digest"] != digest:
            raise StaleError(f"{self.place}: changed since the run was planned; start the same command again")


def _told(selection: Selection, name: str) -> Specification:
    return {"arm": selection.arm, "set": selection.set, "collection": selection.collection, "shard": name}


def _is_sharded(task: Task) -> bool:
    return task.format == "suite" and not task.source.is_loop and not task.source.is_dataset


def _which(trial: Trial) -> tuple[str, int]:
    return trial.arm, trial.repetition


def _row_source(of: SuiteTask, row: dict[str, Any]) -> SuiteTask:
    return dataclasses.replace(of, id=row["id"], fields=row["fields"])
