"""All tasks, sets and arms of a configuration."""

import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from regrade import digests, sets
from regrade.config import Config
from regrade.errors import Fault, FaultsError, RegradeError
from regrade.layout import AnswerPaths, RunPaths, TaskPaths, TrialPaths
from regrade.nearest import nearest
from regrade.plan.artifact import ArtifactPlan
from regrade.plan.attempts import Attempts
from regrade.plan.benchpack import BenchpackPlan
from regrade.plan.selection import Selection
from regrade.plan.selfbench import SelfbenchPlan
from regrade.plan.suite import SuitePlan
from regrade.plan.task import FormatPlan, Specification, Task, Trial

FORMATS = ("artifact", "benchpack", "suite", "selfbench")

RECORDING_CODE = (
    *("records.py", "record.py", "answers.py", "models/prices.py", "hardware.py"),
    *("summary.py", "statistics.py", "statuses.py", "packs", "suites", "model_calls.py"),
)


class Plan:
    """Sets and runs to tasks and trials. Tasks are read when first asked for."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.results = config.folder("results")
        self.attempts = Attempts(config.error_retries, config.budget_usd)

    @functools.cached_property
    def artifact(self) -> ArtifactPlan:
        """The artifact tasks."""
        return ArtifactPlan(self.config, self.attempts, self.paths, self.task_paths)

    @functools.cached_property
    def benchpack(self) -> BenchpackPlan:
        """The benchpack cases."""
        return BenchpackPlan(self.config, self.attempts, self.paths, self.task_paths)

    @functools.cached_property
    def suite(self) -> SuitePlan:
        """The tasks of suites."""
        return SuitePlan(self.config, self.attempts, self.paths, self.task_paths)

    @functools.cached_property
    def selfbench(self) -> SelfbenchPlan:
        """The SelfBench tasks."""
        return SelfbenchPlan(self.config, self.attempts, self.paths, self.task_paths)

    def of(self, format_: str) -> FormatPlan:
        """The part of the plan that knows a format."""
        plan: FormatPlan = getattr(self, format_)
        return plan

    @functools.cached_property
    def known(self) -> sets.Known:
        """Every id that there is, also of faulty tasks, with its collection, by format."""
        return {name: self._known(self.of(name)) for name in FORMATS}

    def _known(self, plan: FormatPlan) -> dict[str, str]:
        return {name: plan.collection_of(name) for name in [*plan.tasks, *plan.faults]}

    def task(self, format_: str, collection: str, case: str) -> Task:
        """The task that stands behind a path. Raises FaultsError if it is faulty, RegradeError if there is none."""
        plan = self.of(format_)
        identifier = plan.identifier(collection, case)
        if identifier not in plan.tasks and identifier not in plan.faults:
            raise RegradeError(f"{plan.place}: has no task {identifier!r}{nearest(identifier, plan.tasks)}")
        return self._sound([(format_, identifier)])[0]

    def tasks_of_set(self, name: str) -> list[Task]:
        """A set's tasks in its order. Raises FaultsError for faults in the set or in any of its tasks."""
        return list(self._tasks_of_set(name))

    @functools.cache  # noqa: B019 (a plan lives as long as its process)
    def _tasks_of_set(self, name: str) -> tuple[Task, ...]:
        return tuple(self._sound(sets.read_set(sets.path_of(self.config.folder("sets"), name), self.known)))

    def tasks_of_collection(self, format_: str, collection: str) -> list[Task]:
        """All tasks of a category or a pack: by id, or in the pack's order."""
        plan = self.of(format_)
        known = [*plan.tasks, *(identifier for identifier in plan.faults if identifier not in plan.tasks)]
        ids = [identifier for identifier in known if plan.collection_of(identifier) == collection]
        if not ids:
            collections = {plan.collection_of(identifier) for identifier in known}
            raise RegradeError(f"{plan.place}: has no task of {collection!r}{nearest(collection, collections)}")
        return self._sound([(format_, identifier) for identifier in ids])

    def sound_tasks(self) -> list[Task]:
        """Every task without a fault."""
        return [task for name in FORMATS for task in self.of(name).tasks.values()]

    def _sound(self, pairs: list[tuple[str, str]]) -> list[Task]:
        faults: dict[Fault, None] = {}
        for format_, identifier in pairs:
            faults |= dict.fromkeys(self.of(format_).faults.get(identifier, []))
        if faults:
            raise FaultsError(list(faults))
        return [self.of(format_).tasks[identifier] for format_, identifier in pairs]

    def trials_of_set(self, name: str) -> list[Trial]:
        """A set's trials: arm by arm in the configuration's order, in each the set's order."""
        return [trial for arm in self.config.arms for trial in self.trials(arm, self.tasks_of_set(name))]

    def trials_of_run(self, arm: str, format_: str, collection: str) -> list[Trial]:
        """The trials of one arm over a whole collection."""
        self.require_arm(arm)
        return list(self.trials(arm, self.tasks_of_collection(format_, collection)))

    def trials(self, arm: str, tasks: list[Task]) -> Iterator[Trial]:
        """All repetitions of some tasks under one arm."""
        for task in tasks:
            repetitions = 1 if task.draws else self.config.repetitions_of(arm, task.repetitions)
            for repetition in range(1, repetitions + 1):
                yield Trial(task, arm, repetition)

    def trials_of(self, selection: Selection) -> list[Trial]:
        """All trials of a set or of a collection under the selection's arm."""
        if selection.set:
            self.require_arm(selection.arm)
            return list(self.trials(selection.arm, self.tasks_of_set(selection.set)))
        return self.trials_of_run(selection.arm, "suite", selection.collection)

    @functools.cache  # noqa: B019
    def shards(self, selection: Selection) -> dict[str, list[Trial]]:
        """What a selection asks in shards, by shard."""
        return self.suite.shards(self.trials_of(selection))

    def answered(self, selection: Selection, name: str) -> tuple[list[Trial], AnswerPaths]:
        """The trials and the files of a shard, or of a data set (`dataset-<case>`).

        Of a data set it is the trials of the set itself; its rows are known when they were made.
        """
        if name.startswith("dataset-"):
            task = self.task("suite", selection.collection, name.removeprefix("dataset-"))
            trials = list(self.trials(selection.arm, [task]))
            return trials, self.suite.dataset_paths(trials[0])
        shards = self.shards(selection)
        if name not in shards:
            raise RegradeError(f"there is no {name}, expected one of: {', '.join(shards) or 'none'}")
        return shards[name], selection.paths(self.results, name)

    def ask_spec(self, selection: Selection, name: str) -> Specification:
        """What the `ask` stage is told of a shard or a data set."""
        return self.suite.ask_spec(selection, name, *self.answered(selection, name))

    def score_spec(self, selection: Selection, name: str) -> Specification:
        """What the `score_answers` stage is told of a shard or a data set."""
        return self.suite.score_spec(selection, name, *self.answered(selection, name))

    def verdict_files(self, trials: list[Trial], selections: Iterable[Selection]) -> list[Path]:
        """The files that hold the verdicts on some trials, of which the selections hold what is asked in shards."""
        found: dict[Path, None] = {}
        for trial in trials:
            if trial.task.format != "suite" or trial.task.source.is_loop:
                found[self.paths(trial).grade] = None
            elif trial.task.source.is_dataset:
                found[self.suite.dataset_paths(trial).grade] = None
        for selection in selections:
            found |= dict.fromkeys(selection.paths(self.results, name).grade for name in self.shards(selection))
        return list(found)

    def selections_of_set(self, name: str) -> list[Selection]:
        """What a set asks in shards, arm by arm."""
        return [Selection(arm, set=name) for arm in self.config.arms]

    def require_arm(self, arm: str) -> None:
        """Raises RegradeError unless the configuration has the arm."""
        if arm not in self.config.arms:
            raise RegradeError(f"config arms: has no arm {arm!r}{nearest(arm, self.config.arms)}")

    def task_paths(self, task: Task) -> TaskPaths:
        """Where the files lie that a task's trials share."""
        return TaskPaths(self.results, task.format, task.collection, task.case)

    def paths(self, trial: Trial) -> TrialPaths:
        """Where a trial's files lie."""
        run = RunPaths(self.results, trial.arm, trial.task.format, trial.task.collection)
        return run.trial(trial.task.case, trial.repetition)

    def planned_digests(self, trial: Trial) -> dict[str, str]:
        """All digests that a fresh grade of a trial carries."""
        plan = self.of(trial.task.format)
        return {"trial": plan.trial_digest(trial), **plan.grade_digests(trial)}

    def recording_code(self) -> str:
        """The digest of the code that makes records and summaries."""
        return digests.of_code(*RECORDING_CODE)

    def records_spec(self, trials: list[Trial]) -> Specification:
        """What the records of some trials depend on beside their grades, as one digest."""
        about: list[Any] = [[*_about(trial), self.planned_digests(trial)] for trial in trials]
        if self.config.run_metadata:
            about.append(digests.of_file(Path(self.config.run_metadata)))
        if self.config.host_label:
            about.append(self.config.host_label)
        prices = {name: model.get("prices") for name, model in self.config.models.items()}
        return {"digest": digests.of_value([about, prices]), "code": self.recording_code()}


def _about(trial: Trial) -> list[Any]:
    task = trial.task
    labels = task.source.labels if task.format == "suite" else None
    return [trial.arm, trial.repetition, task.id, task.category, task.difficulty, list(task.tags), labels]
