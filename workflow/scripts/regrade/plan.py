"""What is to be done: sets and runs to trials, and for each stage the specification of one job.

A specification is a JSON value that stands in a rule's `params`: it holds all that may change a job's result,
so a job runs again exactly when its specification does. Nothing here writes a file or asks a model.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regrade import digests, files, sets
from regrade.config import NEEDS_MODEL, Config
from regrade.errors import Fault, FaultsError, RegradeError
from regrade.formats import artifact
from regrade.layout import RunPaths, TaskPaths, TrialPaths
from regrade.nearest import nearest

GRADING_CODE = ("graders", "sandbox", "grade.py", "statuses.py")
ASKED = ("adapter", "base_url", "runtime", "model", "strip_thinking")
RECORDING_CODE = ("records.py", "summary.py", "statistics.py", "statuses.py")


@dataclass(frozen=True)
class Trial:
    """A task under an arm, once."""

    task: artifact.ArtifactTask
    arm: str
    repetition: int

    @property
    def name(self) -> str:
        return f"{self.task.id} under {self.arm}, repetition {self.repetition}"


class Plan:
    """All tasks, sets and arms of a configuration. Tasks are read when first asked for."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.results = config.folder("results")
        self._attempts: dict[tuple[Path, str], int] = {}

    @functools.cached_property
    def _loaded(self) -> "artifact.Loaded":
        return artifact.load_all(self.config.folder("artifact"), self.config.categories)

    def task(self, collection: str, case: str) -> artifact.ArtifactTask:
        """The task of a collection and a case. Raises FaultsError if it is faulty, RegradeError if there is none."""
        return self.task_of_id(f"{collection}__{case}")

    def task_of_id(self, identifier: str) -> artifact.ArtifactTask:
        """The task with an id, with the same errors."""
        if identifier in self._loaded.faults:
            raise FaultsError(self._loaded.faults[identifier])
        if identifier not in self._loaded.tasks:
            known = self._loaded.tasks
            place = self.config.folder("artifact")
            raise RegradeError(f"{place}: has no task {identifier!r}{nearest(identifier, known)}")
        return self._loaded.tasks[identifier]

    def tasks_of_set(self, name: str) -> list[artifact.ArtifactTask]:
        """A set's tasks in its order. Raises FaultsError for faults in the set or in any of its tasks."""
        path = sets.path_of(self.config.folder("sets"), name)
        known = {"artifact": sorted({*self._loaded.tasks, *self._loaded.faults})}
        return self._sound([identifier for _, identifier in sets.read_set(path, known)])

    def tasks_of_collection(self, collection: str) -> list[artifact.ArtifactTask]:
        """All tasks of a category, sorted by id."""
        known = sorted({*self._loaded.tasks, *self._loaded.faults})
        ids = [identifier for identifier in known if identifier.split("__", 1)[0] == collection]
        if not ids:
            place = self.config.folder("artifact")
            categories = {identifier.split("__", 1)[0] for identifier in known}
            raise RegradeError(f"{place}: has no task in category {collection!r}{nearest(collection, categories)}")
        return self._sound(ids)

    def sound_tasks(self) -> list[artifact.ArtifactTask]:
        """Every task without a fault, sorted by id."""
        return list(self._loaded.tasks.values())

    def _sound(self, ids: list[str]) -> list[artifact.ArtifactTask]:
        faults: list[Fault] = []
        for identifier in ids:
            faults += self._loaded.faults.get(identifier, [])
        if faults:
            raise FaultsError(faults)
        return [self._loaded.tasks[identifier] for identifier in ids]

    def trials_of_set(self, name: str) -> list[Trial]:
        """A set's trials: arm by arm in the configuration's order, in each the set's order."""
        return [trial for arm in self.config.arms for trial in self._trials(arm, self.tasks_of_set(name))]

    def trials_of_run(self, arm: str, collection: str) -> list[Trial]:
        """The trials of one arm over a whole collection."""
        self.require_arm(arm)
        return list(self._trials(arm, self.tasks_of_collection(collection)))

    def require_arm(self, arm: str) -> None:
        """Raises RegradeError unless the configuration has the arm."""
        if arm not in self.config.arms:
            raise RegradeError(f"config arms: has no arm {arm!r}{nearest(arm, self.config.arms)}")

    def _trials(self, arm: str, tasks: list[artifact.ArtifactTask]) -> Iterator[Trial]:
        for task in tasks:
            for repetition in range(1, self.config.repetitions_of(arm) + 1):
                yield Trial(task, arm, repetition)

    def task_paths(self, task: artifact.ArtifactTask) -> TaskPaths:
        return TaskPaths(self.results, "artifact", task.category, task.slug)

    def paths(self, trial: Trial) -> TrialPaths:
        run = RunPaths(self.results, trial.arm, "artifact", trial.task.category)
        return run.trial(trial.task.slug, trial.repetition)

    @functools.cache  # noqa: B019 (a plan lives as long as its process)
    def inputs_digest(self, task: artifact.ArtifactTask) -> str:
        """The digest of what a task's inputs are made from."""
        generator = str(task.generator.relative_to(task.folder)) if task.generator else None
        return digests.of_value([task.id, generator, digests.of_folder(task.workspace)])

    @functools.cache  # noqa: B019
    def task_digest(self, task: artifact.ArtifactTask) -> str:
        """The digest of what an agent gets to see and must produce: inputs, prompt, artifact path."""
        return digests.of_value([self.inputs_digest(task), digests.of_file(task.prompt), task.output_artifact])

    @functools.cache  # noqa: B019
    def grader_digest(self, task: artifact.ArtifactTask) -> str:
        """The digest of the whole grader folder."""
        return digests.of_folder(task.grader.parent)

    def inputs_spec(self, task: artifact.ArtifactTask) -> dict[str, Any]:
        """What the `inputs` stage is told."""
        digest = self.inputs_digest(task)
        paths = self.task_paths(task)
        return {
            "task": str(task.folder),
            "id": task.id,
            "output": str(paths.inputs),
            "digest": digest,
            "attempt": self._attempt(paths.folder / "errors.jsonl", digest),
            "errors": str(paths.folder / "errors.jsonl"),
        }

    def trial_spec(self, trial: Trial) -> dict[str, Any]:
        """What the `trial` stage is told: all that makes an answer what it is."""
        task, arm = trial.task, self.config.arms[trial.arm]
        spec: dict[str, Any] = {
            "task": {
                "id": task.id,
                "collection": task.category,
                "case": task.slug,
                "prompt": str(task.prompt),
                "output_artifact": task.output_artifact,
                "max_code_runs": task.max_code_runs,
                "max_wall_seconds": task.max_wall_seconds,
                "digest": self.task_digest(task),
            },
            "arm": {"name": trial.arm, **arm},
            "repetition": trial.repetition,
            "single": self.config.repetitions_of(trial.arm) == 1,
        }
        if arm["harness"] == "oracle":
            spec["task"]["reference"] = str(task.reference)
            spec["task"]["reference_digest"] = digests.of_file(task.reference)
        if arm["harness"] in NEEDS_MODEL:
            spec["model"] = self.asked_model(arm)
        if self.config.enforce_budgets and (task.max_code_runs or task.max_wall_seconds):
            spec["enforce_budgets"] = True
        if arm["harness"] == "code-only":
            tool = {key: value for key, value in self.config.limits.items() if not key.startswith(("gr", "ge"))}
            spec["limits"], spec["sandbox"] = tool, self.config.sandbox
        digest = digests.of_value(spec)
        return {**spec, "digest": digest, "attempt": self._attempt(self.paths(trial).errors, digest)}

    def asked_model(self, arm: dict[str, Any]) -> dict[str, Any]:
        """The part of a model's entry that an answer depends on, with the arm's overrides."""
        model = self.config.models[arm["model"]]
        asked = {key: model[key] for key in ASKED if key in model}
        override = {key: value for key, value in arm.get("override", {}).items() if key != "repetitions"}
        return {**asked, "name": arm["model"], "request": {**model.get("request", {}), **override}}

    def grade_spec(self, trial: Trial) -> dict[str, Any]:
        """What the `grade` stage is told."""
        task, paths = trial.task, self.paths(trial)
        spec: dict[str, Any] = {
            "task": {
                "id": task.id,
                "collection": task.category,
                "case": task.slug,
                "grader": str(task.grader.parent),
                "output_artifact": task.output_artifact,
            },
            "digests": self.grade_digests(trial),
            "limits": {key: self.config.limits[key] for key in ("grader_wall_s", "grader_memory_mb", "artifact_mb")},
            "sandbox": self.config.sandbox,
        }
        digest = digests.of_value(spec)
        places = {
            "pristine": self.task_paths(task).pristine,
            "inputs": self.task_paths(task).inputs,
            "trial": paths.outcome,
            "workspace": paths.workspace,
            "output": paths.grade,
            "logs": paths.verify,
            "errors": paths.errors,
        }
        spec |= {name: str(place) for name, place in places.items()}
        return {**spec, "digest": digest, "attempt": self._attempt(paths.errors, digest)}

    def grade_digests(self, trial: Trial) -> dict[str, str]:
        """The digests that a trial's grade must carry to be fresh."""
        return {"grader": self.grader_digest(trial.task), "code": digests.of_code(*GRADING_CODE)}

    def checks_spec(self, name: str) -> dict[str, Any]:
        """What the `checks` stage is told: the set's tasks, and the digests of all that its verdicts depend on."""
        tasks = self.tasks_of_set(name)
        made_of = [
            [self.inputs_digest(task), self.grader_digest(task), task.output_artifact, digests.of_file(task.reference)]
            for task in tasks
        ]
        code = digests.of_code(*GRADING_CODE, "gates")
        folders = [str(task.folder) for task in tasks]
        digest = digests.of_value([made_of, code])
        return {"title": name, "tasks": folders, "sandbox": self.config.sandbox, "digest": digest}

    def _attempt(self, errors: Path, digest: str) -> int:
        """How many infrastructure errors this very job has behind it, up to `error_retries`.

        A trial that ended in an error has one more than when it was planned, so it is planned again; after
        `error_retries` errors the number stands still. It is read once: Snakemake asks for params twice.
        """
        key = (errors, digest)
        if key not in self._attempts:
            seen = sum(row["digest"] == digest for row in files.read_jsonl(errors))
            self._attempts[key] = min(seen, self.config.error_retries)
        return self._attempts[key]

    def records_spec(self, trials: list[Trial]) -> dict[str, Any]:
        """What the records of some trials depend on beside their grades, as one digest."""
        about = [[*self._about(trial), self.grade_digests(trial)] for trial in trials]
        prices = {name: model.get("prices") for name, model in self.config.models.items()}
        return {"digest": digests.of_value([about, prices]), "code": digests.of_code(*RECORDING_CODE)}

    def _about(self, trial: Trial) -> list[Any]:
        task = trial.task
        digest = self.trial_spec(trial)["digest"]
        return [trial.arm, trial.repetition, task.id, task.difficulty, list(task.tags), digest]
