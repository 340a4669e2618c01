"""The plan's part for task suites: what is asked at once in shards, data sets, and agent loops as single trials."""

import dataclasses
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from regrade import digests, files
from regrade.errors import Fault, StaleError
from regrade.files import recorded
from regrade.formats import suite
from regrade.formats.suite import SuiteTask, oracle
from regrade.formats.suite.dataset import local_dataset
from regrade.formats.suite.filter import filter_tasks
from regrade.formats.suite.fixtures import LEFT_OUT
from regrade.formats.suite.request import asks_one_token
from regrade.formats.suite.task import MAX_STEPS, TEST_TIMEOUT_S
from regrade.judge import PROMPT_VERSION
from regrade.layout import AnswerPaths
from regrade.plan.jobs import Jobs
from regrade.plan.selection import Selection, shards
from regrade.plan.task import Output, Specification, Task, Trial, carries, holds
from regrade.slugs import slugs
from regrade.workspace import work_digest

SCORING_CODE = (
    *("scorers/suite", "scorers/bounded.py", "score_answers.py", "score_loop.py", "judge.py", "verdicts.py"),
    *("statuses.py", "statistics.py", "repository_tests", "patches", "sandbox", "workspace.py", "workspace_files.py"),
    *("formats/suite/task.py", "formats/suite/answer.py"),
    *("row_file.py", "models/protocols.py", "models/openai_chat.py", "models/openai_responses.py"),
    *("models/ollama_chat.py", "models/reading.py", "models/message.py", "models/sse.py"),
)
ASKED = (
    *("prompt", "system", "few_shot", "image_url", "temperature", "max_tokens", "max_output_tokens", "top_p", "top_k"),
    *("repetition_penalty", "thinking", "reasoning_effort", "reasoning_summary", "text_verbosity", "extra_body"),
)
"""Fields of a task that make its request."""
JUDGED = ("llm_judge", "rubric_judge")
RUNS_CODE = ("code_exec", "repo_patch", "agent_loop")
_LOOP_LIMITS = ("workspace_mb", "trial_wall_s")


class SuitePlan(Jobs):
    """The suite tasks of a configuration that its filter lets through, and the specifications of their jobs."""

    def _load(self) -> None:
        config = self.config
        self.place = config.dirs["suites"]
        self._folder = config.folder("suites")
        loaded = suite.load_all(self._folder, config.folder("results") / "cache" / "parsed")
        self.faults: dict[str, list[Fault]] = {}
        """None: a faulty task is one that ends in an error, beside the others of its file."""

        faulty = {name: _of_faults(name, faults, loaded.faulty.get(name)) for name, faults in loaded.faults.items()}
        sources = {**loaded.tasks, **{name: source for name, (source, _) in faulty.items()}}
        if config.filter:
            sources = filter_tasks(sources, config.filter)
        stems = slugs(dict.fromkeys(source.stem for source in sources.values()))
        cases = slugs(sources)
        self.tasks = {
            identifier: _as_task(
                source, stems[source.stem], cases[identifier], faulty[identifier][1] if identifier in faulty else ""
            )
            for identifier, source in sources.items()
        }
        self._ids = {(task.collection, task.case): identifier for identifier, task in self.tasks.items()}

    def identifier(self, collection: str, case: str) -> str:
        """The id of the task whose files bear these names."""
        return self._ids.get((collection, case), case)

    def collection_of(self, identifier: str) -> str:
        """The stem of a task's file, as a slug."""
        return self.tasks[identifier].collection

    # What a result is made from.

    @functools.cache  # noqa: B019 (a plan lives as long as its process)
    def task_digest(self, task: Task) -> str:
        """The digest of what a task asks."""
        source: SuiteTask = task.source
        if task.fault:
            return digests.of_value([source.id, task.fault])
        asked: list[Any] = [source.id, [[name, source.fields[name]] for name in ASKED if name in source.fields]]
        asked.append([digests.of_file(Path(image)) for image in source.images])
        if asks_one_token(source):
            asked.append("one token")
        if source.is_loop:
            asked.append([self.fixture_digest(task), self._loop(source)])
        if source.is_dataset:
            asked.append([source.fields, digests.of_code("inputs/dataset.py", "formats/suite/dataset.py")])
        return digests.of_value(asked)

    @functools.cache  # noqa: B019
    def grader_digest(self, task: Task) -> str:
        """The digest of how a task is scored, and by which judge."""
        source: SuiteTask = task.source
        inner = source.scoring.get("inner_type", "code_exec") if source.scoring_type == "pass_at_k" else ""
        kinds = (source.scoring_type, inner)
        made_of: list[Any] = [source.scoring, source.pass_threshold]
        if any(kind in RUNS_CODE for kind in kinds):
            made_of.append(self.config.code_execution)
        if source.fixture:
            made_of.append(self.fixture_digest(task))
        if any(kind in JUDGED for kind in kinds):
            made_of.append([source.fields.get("prompt"), self.judge_asked(), PROMPT_VERSION])
        return digests.of_value(made_of)

    def judge_asked(self) -> dict[str, Any] | None:
        """The judge as asked, None where there is none."""
        name = self.config.judge
        return {**self.config.model_as_asked(name), "name": name} if name else None

    @functools.cache  # noqa: B019
    def fixture_digest(self, task: Task) -> str:
        """The digest of the repository that a task works on."""
        return digests.of_folder(Path(task.source.fixture), LEFT_OUT)

    @functools.cache  # noqa: B019
    def arm_digest(self, arm: str) -> str:
        """The digest of who answers under an arm."""
        return digests.of_value(self.arm_asked(arm))

    def arm_asked(self, arm: str) -> dict[str, Any]:
        """Who answers: the harness of an arm that asks nobody, or its model with the arm's overrides apart."""
        said = self.config.arms[arm]
        if "model" not in said:
            return {"harness": said["harness"]}
        override = {key: value for key, value in said.get("override", {}).items() if key != "repetitions"}
        model = {**self.config.model_as_asked(said["model"]), "name": said["model"]}
        return {"harness": "direct", "model": model, "override": override}

    def harness(self, trial: Trial) -> str:
        """`direct` or `agent-loop`, as the task says; the arm's own where it asks no model."""
        arm = self.config.arms[trial.arm]
        if "model" not in arm:
            return str(arm["harness"])
        return "agent-loop" if trial.task.source.is_loop else "direct"

    def trial_digest(self, trial: Trial) -> str:
        """The digest of what an answer is made from."""
        if trial.task.source.is_loop:
            return digests.of_value(self._loop_asked(trial))
        made_of = [self.task_digest(trial.task), self.arm_digest(trial.arm), trial.repetition]
        if self.config.arms[trial.arm]["harness"] == "oracle":
            made_of.append(digests.of_value(self.reference(trial.task)))
        return digests.of_value(made_of)

    def grade_digests(self, trial: Trial) -> dict[str, str]:
        """The digests of the scoring and of the code that does it."""
        return {"grader": self.grader_digest(trial.task), "code": digests.of_code(*SCORING_CODE)}

    def reference(self, task: Task) -> oracle.Reference | None:
        """The reference answer of a task, None if it has none."""
        return self._references(task.source.stem).get(task.id)

    def _references_to(self, task: Task) -> Any:
        """The reference answer of a task; for a data set all of its file, as its rows are not known yet."""
        return self._references(task.source.stem) if task.source.is_dataset else self.reference(task)

    @functools.cache  # noqa: B019
    def _references(self, stem: str) -> dict[str, oracle.Reference]:
        return oracle.load(oracle.path_of(self._folder, stem))

    # Shards and data sets: many answers a job.

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
            Trial(_as_task(_row_source(of.source, row), of.collection, of.case, row.get("fault", "")), *_which(trial))
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

    def thinking(self, arm: str) -> str:
        """How an arm's model marks its thoughts: in tags, or (none) not at all, so that a tag is text."""
        model = self.config.arms[arm].get("model")
        return str(self.config.models[model].get("thinking", "tags")) if model else "none"

    def scoring_digest(self, trial: Trial) -> str:
        """The digest of one verdict's making."""
        return digests.of_value([self.trial_digest(trial), self.grade_digests(trial)])

    def answers(self, trial: Trial) -> int:
        """How many answers a trial asks for: one, or the samples of pass_at_k."""
        from regrade.scorers.suite import pass_at_k

        source: SuiteTask = trial.task.source
        return pass_at_k.draws(source, self.config.repetitions) if source.scoring_type == "pass_at_k" else 1

    def skip(self, trial: Trial) -> str:
        """Why a trial makes no sense under its arm, or the empty text."""
        arm = self.config.arms[trial.arm]
        harness = arm["harness"]
        if harness == "external-agent":
            return "an external agent does not answer the tasks of suites, expected an arm with a model"
        if "runtime" in self.config.models.get(arm.get("model", ""), {}) and trial.task.source.shows_images:
            return f"the embedded model {arm['model']} reads no images, and the task shows some"
        if harness == "oracle" and self.reference(trial.task) is None:
            return f"{oracle.path_of(self._folder, trial.task.source.stem)}: has no reference answer to {trial.task.id}"
        return ""

    # Agent loops: a job a trial.

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
            "limits": {name: self.config.limits[name] for name in _LOOP_LIMITS},
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

    def _loop(self, source: SuiteTask) -> dict[str, Any]:
        """What an agent loop's model is told and bound by."""
        scoring, fields = source.scoring, source.fields
        native = scoring.get("native_tools", fields.get("agent_loop_native_tools", self.config.agent_loop_native_tools))
        return {
            "fields": {name: fields[name] for name in ASKED if name in fields},
            "images": list(source.images),
            "test_command": scoring["test_command"],
            "timeout_s": scoring.get("timeout", TEST_TIMEOUT_S),
            "max_steps": scoring.get("max_steps", MAX_STEPS),
            "action_max_tokens": scoring.get("action_max_tokens"),
            "strict_actions": bool(scoring.get("strict_actions", False)),
            "native_tools": bool(native),
        }

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
        task, paths, asked = self._task_paths(trial.task), self._paths(trial), {"trial": self.trial_digest(trial)}

        def has_fixture() -> bool:
            manifest = recorded(task.inputs)
            fresh = manifest.get("made_from") == self.fixture_digest(trial.task)
            return fresh and task.pristine.is_dir() and holds(task.pristine, manifest.get("files", {}))

        def has_trial() -> bool:
            return paths.patch.exists() and carries(paths.outcome, asked) and is_whole(recorded(paths.outcome))

        def is_whole(outcome: dict[str, Any]) -> bool:
            return outcome.get("status") != "ok" or work_digest(paths.workspace) == outcome["digests"].get("work")

        return [
            Output((task.inputs,), has_fixture),
            Output((paths.outcome, paths.patch), has_trial),
            Output((paths.grade,), lambda: carries(paths.grade, {**asked, **self.grade_digests(trial)})),
        ]

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

    def samples(self, trial: Trial) -> Iterator[int]:
        """The repetition numbers of a trial's answers: its own, or 1 to n of pass_at_k."""
        if trial.task.source.scoring_type == "pass_at_k":
            yield from range(1, self.answers(trial) + 1)
        else:
            yield trial.repetition

    def require(self, spec: Specification, digest: str) -> None:
        """Raises StaleError if what a job finds is not what it was planned for."""
        if spec["digest"] != digest:
            raise StaleError(f"{self.place}: changed since the run was planned; start the same command again")


def _told(selection: Selection, name: str) -> Specification:
    return {"arm": selection.arm, "set": selection.set, "collection": selection.collection, "shard": name}


def _is_sharded(task: Task) -> bool:
    return task.format == "suite" and not task.source.is_loop and not task.source.is_dataset


def _of_faults(identifier: str, faults: list[Fault], known: SuiteTask | None) -> tuple[SuiteTask, str]:
    """What stands for a task that cannot be asked, with what a filter looks at, and why it cannot."""
    stem, kept = Path(faults[0].path).stem, known.fields if known else {}
    source = SuiteTask(identifier, stem, {"category": stem, **kept, "prompt": "", "scoring": {}}, faults[0].path)
    return source, "; ".join(map(str, faults))


def _as_task(source: SuiteTask, collection: str, case: str, fault: str = "") -> Task:
    tags = source.fields.get("tags") or []
    return Task(
        "suite",
        source.id,
        collection,
        case,
        source,
        source.category,
        source.fields.get("difficulty"),
        tuple(map(str, tags if isinstance(tags, list) else [tags])),
        draws=source.scoring_type == "pass_at_k",
        fault=fault,
    )


def _which(trial: Trial) -> tuple[str, int]:
    return trial.arm, trial.repetition


def _row_source(of: SuiteTask, row: dict[str, Any]) -> SuiteTask:
    return dataclasses.replace(of, id=row["id"], fields=row["fields"])
