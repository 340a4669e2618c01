"""The plan's part for artifact tasks: the stages inputs, trial, grade and checks."""

import functools

from regrade import digests
from regrade.config import NEEDS_MODEL
from regrade.errors import Fault
from regrade.formats import artifact
from regrade.plan.jobs import Jobs
from regrade.plan.task import Output, Specification, Task, Trial

GRADING_CODE = ("graders", "sandbox", "grade.py", "verdicts.py", "statuses.py")
_GRADER_LIMITS = ("grader_wall_s", "grader_memory_mb", "artifact_mb")
_AGENT_LIMITS = ("workspace_mb", "trial_wall_s")
_TOOL_LIMITS = ("tool_wall_s", "tool_cpu_s", "tool_memory_mb")
LIMITS_OF = {
    "code-only": (*_AGENT_LIMITS, *_TOOL_LIMITS),
    "tool-rich": (*_AGENT_LIMITS, *_TOOL_LIMITS),
    "external-agent": _AGENT_LIMITS,
}
"""Limits that bound what an agent does, and so make its answer, by harness."""


class ArtifactPlan(Jobs):
    """The artifact tasks of a configuration, and the specifications of their jobs."""

    def _load(self) -> None:
        config = self.config
        self.place = config.dirs["artifact"]
        loaded = artifact.load_all(config.folder("artifact"), config.categories)
        self.faults: dict[str, list[Fault]] = loaded.faults
        self.tasks = {identifier: _as_task(task) for identifier, task in loaded.tasks.items()}

    def collection_of(self, identifier: str) -> str:
        """The category that an id starts with."""
        return identifier.split("__", 1)[0]

    def identifier(self, collection: str, case: str) -> str:
        """The id of the task whose files bear these names."""
        return f"{collection}__{case}"

    @functools.cache  # noqa: B019 (a plan lives as long as its process)
    def inputs_digest(self, task: Task) -> str:
        """The digest of what a task's inputs are made from."""
        source: artifact.ArtifactTask = task.source
        generator = str(source.generator.relative_to(source.folder)) if source.generator else None
        return digests.of_value([source.id, generator, digests.of_folder(source.workspace)])

    @functools.cache  # noqa: B019
    def task_digest(self, task: Task) -> str:
        """The digest of what an agent gets to see and must produce: inputs, prompt, artifact path."""
        source: artifact.ArtifactTask = task.source
        return digests.of_value([self.inputs_digest(task), digests.of_file(source.prompt), source.output_artifact])

    @functools.cache  # noqa: B019
    def grader_digest(self, task: Task) -> str:
        """The digest of the whole grader folder."""
        return digests.of_folder(task.source.grader.parent)

    def inputs_spec(self, task: Task) -> Specification:
        """What the `inputs` stage is told."""
        digest, paths = self.inputs_digest(task), self._task_paths(task)
        return {
            "task": str(task.source.folder),
            "id": task.id,
            "output": str(paths.inputs),
            "digest": digest,
            "attempt": self._attempts.of(paths.errors, digest),
            "errors": str(paths.errors),
        }

    def trial_spec(self, trial: Trial) -> Specification:
        """What the `trial` stage is told: all that makes an answer what it is."""
        return self._finished(self._asked(trial), self._paths(trial).errors)

    def harness(self, trial: Trial) -> str:
        """The arm's harness."""
        return str(self.config.arms[trial.arm]["harness"])

    def trial_digest(self, trial: Trial) -> str:
        """The digest of a trial's specification."""
        return digests.of_value(self._asked(trial))

    def _asked(self, trial: Trial) -> Specification:
        source: artifact.ArtifactTask = trial.task.source
        arm = self.config.arms[trial.arm]
        task: Specification = {
            "id": source.id,
            "collection": source.category,
            "case": source.slug,
            "prompt": str(source.prompt),
            "output_artifact": source.output_artifact,
            "max_code_runs": source.max_code_runs,
            "max_wall_seconds": source.max_wall_seconds,
            "digest": self.task_digest(trial.task),
        }
        spec: Specification = {
            "format": "artifact",
            "task": task,
            "arm": {"name": trial.arm, **arm},
            "harness": arm["harness"],
            "repetition": trial.repetition,
            "single": self.config.repetitions_of(trial.arm) == 1,
        }
        if arm["harness"] == "oracle":
            task["reference"] = str(source.reference)
            task["reference_digest"] = digests.of_file(source.reference)
        if arm["harness"] in NEEDS_MODEL:
            spec["model"] = self.config.asked_model(trial.arm)
        if self.config.enforce_budgets and (source.max_code_runs or source.max_wall_seconds):
            spec["enforce_budgets"] = True
        if arm["harness"] in LIMITS_OF:
            spec["limits"] = {name: self.config.limits[name] for name in LIMITS_OF[arm["harness"]]}
            spec["sandbox"] = self.config.sandbox
        return spec

    def grade_spec(self, trial: Trial) -> Specification:
        """What the `grade` stage is told."""
        source: artifact.ArtifactTask = trial.task.source
        task, paths = self._task_paths(trial.task), self._paths(trial)
        spec: Specification = {
            "task": {
                "id": source.id,
                "collection": source.category,
                "case": source.slug,
                "grader": str(source.grader.parent),
                "output_artifact": source.output_artifact,
            },
            "digests": self.grade_digests(trial),
            "limits": {name: self.config.limits[name] for name in _GRADER_LIMITS},
            "sandbox": self.config.sandbox,
        }
        return self._finished(
            spec,
            paths.errors,
            pristine=task.pristine,
            trial=paths.outcome,
            workspace=paths.workspace,
            output=paths.grade,
            logs=paths.verify,
            errors=paths.errors,
        )

    def grade_digests(self, trial: Trial) -> dict[str, str]:
        """The digests of the grader and of the code that runs it."""
        return {"grader": self.grader_digest(trial.task), "code": digests.of_code(*GRADING_CODE)}

    def outputs(self, trial: Trial) -> list[Output]:
        """Inputs, the trial itself, and its grade."""
        inputs = self._inputs_output(trial.task, self.inputs_digest(trial.task))
        return [inputs, *self._trial_outputs(trial, self.trial_digest(trial))]

    def checks_spec(self, name: str, tasks: list[Task]) -> Specification:
        """What the `checks` stage is told: a set's artifact tasks, and all that its verdicts depend on as a digest."""
        ours = [task for task in tasks if task.format == "artifact"]
        made_of = [[self.inputs_digest(task), self.grader_digest(task), *self._declared(task)] for task in ours]
        return {
            "title": name,
            "tasks": [str(task.source.folder) for task in ours],
            "sandbox": self.config.sandbox,
            "categories": list(self.config.categories),
            "limits": {limit: self.config.limits[limit] for limit in _GRADER_LIMITS},
            "digest": digests.of_value([made_of, digests.of_code(*GRADING_CODE, "gates")]),
        }

    def _declared(self, task: Task) -> list[str]:
        """The digests of a task's manifest and of its reference."""
        return [digests.of_file(task.source.folder / "task.yaml"), digests.of_file(task.source.reference)]


def _as_task(source: artifact.ArtifactTask) -> Task:
    return Task(
        "artifact", source.id, source.category, source.slug, source, source.category, source.difficulty, source.tags
    )
