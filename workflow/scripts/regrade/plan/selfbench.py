"""The plan's part for SelfBench tasks: the stages snapshot, prove, trial and grade_patch, and Harbor bundles."""

import functools
from pathlib import Path
from typing import Any

from regrade import digests
from regrade.config import NEEDS_MODEL
from regrade.errors import Fault, FaultsError, RegradeError
from regrade.files import recorded
from regrade.formats import selfbench
from regrade.formats.selfbench import SelfbenchTask, dependencies
from regrade.held_out.prepared import Prepared
from regrade.nearest import nearest
from regrade.plan.artifact import LIMITS_OF
from regrade.plan.jobs import Jobs
from regrade.plan.task import Output, Specification, Task, Trial
from regrade.slugs import slugs

GRADING_CODE = (
    *("held_out", "formats/selfbench", "repository_tests", "sandbox", "git.py"),
    *("verdicts.py", "statuses.py", "workspace.py"),
)
_OWN = ("trial_wall_s", "tool_memory_mb", "workspace_mb")
"""Limits that a definition gives itself."""

UNREADABLE = "unreadable"
"""The collection of tasks whose definition names no repository."""


class SelfbenchPlan(Jobs):
    """The SelfBench tasks of a configuration, and the specifications of their jobs."""

    def _load(self) -> None:
        config = self.config
        self.place = config.dirs["selfbench"]
        loaded = selfbench.load_all(config.folder("selfbench"))
        self.faults: dict[str, list[Fault]] = loaded.faults
        self._collections = slugs({task.definition.repo for task in loaded.tasks.values()})
        cases = slugs(loaded.tasks)
        self.tasks = {name: self._task(task, cases[name]) for name, task in loaded.tasks.items()}
        self._ids = {(task.collection, task.case): task.id for task in self.tasks.values()}

    def _task(self, source: SelfbenchTask, case: str) -> Task:
        definition = source.definition
        collection = self._collections[definition.repo]
        return Task("selfbench", definition.task_id, collection, case, source, collection, definition.difficulty, ())

    def collection_of(self, identifier: str) -> str:
        """The slug of the task's repository."""
        return self.tasks[identifier].collection if identifier in self.tasks else UNREADABLE

    def identifier(self, collection: str, case: str) -> str:
        """The id of the task whose files bear these names."""
        return self._ids.get((collection, case), case)

    def prepared(self, task: Task) -> Prepared:
        """The folders that are made once for a task."""
        return Prepared(self._task_paths(task).folder)

    # What results are made from.

    @functools.cache  # noqa: B019 (a plan lives as long as its process)
    def inputs_digest(self, task: Task) -> str:
        """The digest of what a task's files are made from: the commit and its set-up, for agents and for tests."""
        definition, patch = task.source.definition, dependencies.setup_patch(task.source.gold_patch)
        made_of = [definition.base_commit.lower(), definition.setup_command, definition.workdir]
        made_of += [definition.timeouts.setup_seconds, self._resources(task), list(definition.toolchains)]
        made_of += [patch and digests.of_bytes(patch), self.config.sandbox, self._is_named(task)]
        return digests.of_value(made_of)

    @functools.cache  # noqa: B019
    def task_digest(self, task: Task) -> str:
        """The digest of what an agent gets to see."""
        return digests.of_value([self.inputs_digest(task), task.source.definition.prompt])

    @functools.cache  # noqa: B019
    def grader_digest(self, task: Task) -> str:
        """The digest of what decides about a patch: held-out tests and commands, and what the solution changes."""
        source: SelfbenchTask = task.source
        definition = source.definition
        made_of: list[Any] = [definition.test_command, definition.fail_to_pass, definition.pass_to_pass]
        made_of += [definition.test_paths, definition.timeouts.tests_seconds, definition.workdir, self._resources(task)]
        patches = [digests.of_bytes(source.test_patch), digests.of_bytes(source.gold_patch)]
        return digests.of_value([made_of, patches])

    def _resources(self, task: Task) -> list[Any]:
        resources = task.source.definition.resources
        return [resources.cpus, resources.memory_mb, resources.storage_mb]

    def _is_named(self, task: Task) -> bool:
        """Whether there is a repository, and no more: what it holds is told by the commit."""
        return task.source.definition.repo in self.config.selfbench_repositories

    def repository(self, task: Task) -> Path:
        """The clone or git bundle of a task. Raises RegradeError if the configuration names none."""
        known, repo = self.config.selfbench_repositories, task.source.definition.repo
        if repo not in known:
            raise RegradeError(
                f"config selfbench.repositories: has no {repo!r}{nearest(repo, known)}, "
                f"expected a clone or a git bundle of it for {task.id}"
            )
        return Path(known[repo])

    # Jobs of a task.

    def snapshot_spec(self, task: Task) -> Specification:
        """What the `snapshot` stage is told."""
        digest, paths = self.inputs_digest(task), self._task_paths(task)
        return {
            "id": task.id,
            "task": str(task.source.folder),
            "repository": self.config.selfbench_repositories.get(task.source.definition.repo),
            "network": self.config.selfbench_setup_network,
            "output": str(paths.inputs),
            "errors": str(paths.errors),
            "digest": digest,
            "attempt": self._attempts.of(paths.errors, digest),
        }

    def prove_spec(self, task: Task) -> Specification:
        """What the `prove` stage is told."""
        digest, paths = self._proof_digest(task), self._task_paths(task)
        return {
            "id": task.id,
            "task": str(task.source.folder),
            "repository": self.config.selfbench_repositories.get(task.source.definition.repo),
            "folder": str(paths.folder),
            "errors": str(paths.errors),
            "digest": digest,
            "attempt": self._attempts.of(paths.errors, digest),
        }

    @functools.cache  # noqa: B019
    def _proof_digest(self, task: Task) -> str:
        made_of = [self.task_digest(task), self.grader_digest(task), task.source.definition.difficulty]
        return digests.of_value([*made_of, digests.of_code(*GRADING_CODE)])

    def compile_spec(self, identifier: str, output: Path) -> Specification:
        """What the `harbor` stage is told. Raises FaultsError or RegradeError for a task that cannot be compiled."""
        if identifier in self.faults:
            raise FaultsError(self.faults[identifier])
        if identifier not in self.tasks:
            raise RegradeError(f"{self.place}: has no task {identifier!r}{nearest(identifier, self.tasks)}")
        task = self.tasks[identifier]
        source: SelfbenchTask = task.source
        made_of = [selfbench.digest(source.definition), digests.of_bytes(source.test_patch)]
        code = digests.of_code("harbor", "formats/selfbench", "repository_tests", "held_out/network.py")
        return {
            "task": str(source.folder),
            "repository": str(self.repository(task)),
            "output": str(output),
            "digest": digests.of_value([*made_of, digests.of_bytes(source.gold_patch), code]),
        }

    # Jobs of a trial.

    def harness(self, trial: Trial) -> str:
        """The arm's harness."""
        return str(self.config.arms[trial.arm]["harness"])

    def trial_spec(self, trial: Trial) -> Specification:
        """What the `trial` stage is told."""
        return self._finished(self._asked(trial), self._paths(trial).errors, gate=self.prepared(trial.task).gate)

    def trial_digest(self, trial: Trial) -> str:
        """The digest of a trial's specification."""
        return digests.of_value(self._asked(trial))

    def _asked(self, trial: Trial) -> Specification:
        source: SelfbenchTask = trial.task.source
        arm = self.config.arms[trial.arm]
        definition = source.definition
        task: Specification = {
            "id": trial.task.id,
            "collection": trial.task.collection,
            "case": trial.task.case,
            "prompt_text": definition.prompt,
            "output_artifact": "",
            "max_code_runs": 0,
            "max_wall_seconds": 0,
            "agent_seconds": definition.timeouts.agent_seconds,
            "memory_mb": definition.resources.memory_mb,
            "storage_mb": definition.resources.storage_mb,
            "digest": self.task_digest(trial.task),
        }
        spec: Specification = {
            "format": "selfbench",
            "task": task,
            "arm": {"name": trial.arm, **arm},
            "harness": arm["harness"],
            "repetition": trial.repetition,
            "single": self.config.repetitions_of(trial.arm) == 1,
        }
        if arm["harness"] == "oracle":
            task["reference"] = str(source.folder / "gold.patch")
            task["reference_digest"] = digests.of_bytes(source.gold_patch)
        if arm["harness"] in NEEDS_MODEL:
            spec["model"] = self.config.asked_model(trial.arm)
        if arm["harness"] in LIMITS_OF:
            spec["limits"] = {name: self.config.limits[name] for name in LIMITS_OF[arm["harness"]] if name not in _OWN}
            spec["sandbox"] = self.config.sandbox
        return spec

    def grade_spec(self, trial: Trial) -> Specification:
        """What the `grade_patch` stage is told."""
        paths, task = self._paths(trial), trial.task
        spec: Specification = {
            "task": {
                "id": task.id,
                "collection": task.collection,
                "case": task.case,
                "folder": str(task.source.folder),
            },
            "digests": self.grade_digests(trial),
            "sandbox": self.config.sandbox,
        }
        return self._finished(
            spec,
            paths.errors,
            prepared=self._task_paths(task).folder,
            trial=paths.outcome,
            workspace=paths.workspace,
            verify=paths.verdict,
            output=paths.grade,
            errors=paths.errors,
        )

    def grade_digests(self, trial: Trial) -> dict[str, str]:
        """The digests of the held-out tests and of the code that runs them."""
        return {"grader": self.grader_digest(trial.task), "code": digests.of_code(*GRADING_CODE)}

    def outputs(self, trial: Trial) -> list[Output]:
        """Snapshot, gates, the trial itself, and its grade."""
        prepared, inputs = self.prepared(trial.task), self._task_paths(trial.task).inputs

        def has_inputs() -> bool:
            manifest = recorded(inputs)
            made = manifest.get("made_from") == self.inputs_digest(trial.task)
            return made and (manifest.get("status") != "ok" or prepared.agent.is_dir())

        def has_proof() -> bool:
            return recorded(prepared.gates).get("digest") == self._proof_digest(trial.task) and prepared.gate.exists()

        return [
            Output((inputs,), has_inputs),
            Output((prepared.gates, prepared.gate), has_proof),
            *self._trial_outputs(trial, self.trial_digest(trial)),
        ]
