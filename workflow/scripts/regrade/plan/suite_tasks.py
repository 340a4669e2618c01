"""The plan's tasks of suites: what each asks and how it is scored, as digests, and which arms it makes sense under."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regrade import digests
from regrade.errors import Fault
from regrade.formats import suite
from regrade.formats.suite import SuiteTask, oracle
from regrade.formats.suite.filter import filter_tasks
from regrade.formats.suite.fixtures import LEFT_OUT
from regrade.formats.suite.request import asks_one_token
from regrade.formats.suite.task import MAX_STEPS, TEST_TIMEOUT_S
from regrade.judge import PROMPT_VERSION
from regrade.plan.jobs import Jobs
from regrade.plan.task import Task, Trial
from regrade.slugs import slugs

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


class SuiteTasks(Jobs):
    """The suite tasks of a configuration that its filter lets through."""

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
            identifier: as_task(
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

    def grade_digests(self, trial: Trial) -> dict[str, str]:
        """The digests of the scoring and of the code that does it."""
        return {"grader": self.grader_digest(trial.task), "code": digests.of_code(*SCORING_CODE)}

    def thinking(self, arm: str) -> str:
        """How an arm's model marks its thoughts: in tags, or (none) not at all, so that a tag is text."""
        model = self.config.arms[arm].get("model")
        return str(self.config.models[model].get("thinking", "tags")) if model else "none"

    def reference(self, task: Task) -> oracle.Reference | None:
        """The reference answer of a task, None if it has none."""
        return self._references(task.source.stem).get(task.id)

    def _references_to(self, task: Task) -> Any:
        """The reference answer of a task; for a data set all of its file, as its rows are not known yet."""
        return self._references(task.source.stem) if task.source.is_dataset else self.reference(task)

    @functools.cache  # noqa: B019
    def _references(self, stem: str) -> dict[str, oracle.Reference]:
        return oracle.load(oracle.path_of(self._folder, stem))

    def answers(self, trial: Trial) -> int:
        """How many answers a trial asks for: one, or the samples of pass_at_k."""
        from regrade.scorers.suite import pass_at_k

        source: SuiteTask = trial.task.source
        return pass_at_k.draws(source, self.config.repetitions) if source.scoring_type == "pass_at_k" else 1

    def samples(self, trial: Trial) -> Iterator[int]:
        """The repetition numbers of a trial's answers: its own, or 1 to n of pass_at_k."""
        if trial.task.source.scoring_type == "pass_at_k":
            yield from range(1, self.answers(trial) + 1)
        else:
            yield trial.repetition

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


def _of_faults(identifier: str, faults: list[Fault], known: SuiteTask | None) -> tuple[SuiteTask, str]:
    """What stands for a task that cannot be asked, with what a filter looks at, and why it cannot."""
    stem, kept = Path(faults[0].path).stem, known.fields if known else {}
    source = SuiteTask(identifier, stem, {"category": stem, **kept, "prompt": "", "scoring": {}}, faults[0].path)
    return source, "; ".join(map(str, faults))


def as_task(source: SuiteTask, collection: str, case: str, fault: str = "") -> Task:
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
