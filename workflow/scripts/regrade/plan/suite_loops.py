"""The plan's jobs for agent loops: each works on a copy of a fixture, one job a trial."""

from regrade import digests
from regrade.formats.suite import SuiteTask
from regrade.formats.suite.fixtures import LEFT_OUT
from regrade.formats.suite.task import TEST_TIMEOUT_S
from regrade.plan.suite_tasks import SuiteTasks
from regrade.plan.task import Output, Specification, Task, Trial

_LIMITS = ("workspace_mb", "trial_wall_s")


class SuiteLoops(SuiteTasks):
    """Suite tasks with the specifications of the jobs of agent loops."""

    def fixture_spec(self, task: Task) -> Specification:
        """What the `repository` stage is told of an agent loop's fixture."""
        return {
            "id": task.id,
            "source": task.source.fixture,
            "leave_out": list(LEFT_OUT),
            "output": str(self._task_paths(task).inputs),
            "digest": self.fixture_digest(task),
        }

    def loop_spec(self, trial: Trial) -> Specification:
        """What the `trial` stage is told of an agent loop."""
        return self._finished(self._loop_asked(trial), self._paths(trial).errors)

    def loop_digest(self, trial: Trial) -> str:
        """The digest of what a loop's outcome is made from."""
        return digests.of_value(self._loop_asked(trial))

    def _loop_asked(self, trial: Trial) -> Specification:
        source: SuiteTask = trial.task.source
        arm = self.config.arms[trial.arm]
        spec: Specification = {
            "format": "suite",
            "task": {
                "id": source.id,
                "collection": trial.task.collection,
                "case": trial.task.case,
                "digest": self.task_digest(trial.task),
                "max_code_runs": 0,
                "max_wall_seconds": 0,
                **self._loop(source),
            },
            "arm": {"name": trial.arm, "harness": arm["harness"]},
            "harness": arm["harness"] if arm["harness"] == "nop" else "agent-loop",
            "repetition": trial.repetition,
            "single": self.config.repetitions_of(trial.arm) == 1,
            "limits": {name: self.config.limits[name] for name in _LIMITS},
            "code_execution": self.config.code_execution,
        }
        if arm["harness"] == "oracle":
            spec["turns"] = self.reference(trial.task)
        elif "model" in arm:
            asked = self.arm_asked(trial.arm)
            spec["model"] = asked["model"]
            spec["override"] = asked["override"]
            spec["thinking"] = self.thinking(trial.arm)
        if skip := self.skip(trial):
            spec["skip"] = skip
        return spec

    def score_loop_spec(self, trial: Trial) -> Specification:
        """What the `score_loop` stage is told."""
        source: SuiteTask = trial.task.source
        paths = self._paths(trial)
        spec: Specification = {
            "task": {"id": source.id, "collection": trial.task.collection, "case": trial.task.case},
            "test_command": source.scoring["test_command"],
            "timeout_s": source.scoring.get("timeout", TEST_TIMEOUT_S),
            "hidden_tests": source.scoring.get("hidden_tests", []),
            "pass_threshold": source.pass_threshold,
            "code_execution": self.config.code_execution,
            "digests": self.grade_digests(trial),
        }
        return self._finished(
            spec,
            paths.errors,
            pristine=self._task_paths(trial.task).pristine,
            trial=paths.outcome,
            workspace=paths.workspace,
            output=paths.grade,
            errors=paths.errors,
        )

    def outputs(self, trial: Trial) -> list[Output]:
        """The stages of an agent loop; what is asked in shards belongs to no single trial (answer_outputs)."""
        if not trial.task.source.is_loop:
            return []
        fixture = self._inputs_output(trial.task, self.fixture_digest(trial.task))
        return [fixture, *self._trial_outputs(trial, self.loop_digest(trial))]
