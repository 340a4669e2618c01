"""The plan's part for benchpack cases: the stages repository, measure, session, verify and score."""

import functools
import os
from pathlib import Path
from typing import Any

from regrade import digests, external_agent, files
from regrade.errors import Fault
from regrade.files import recorded
from regrade.formats import benchpack
from regrade.layout import verify_outcome
from regrade.plan.jobs import Jobs
from regrade.plan.pack_case import PackCase
from regrade.plan.task import Output, Specification, Task, Trial, carries

SCORING_CODE = (
    *("scorers/benchpack", "scorers/bounded.py", "score.py", "judge.py", "verdicts.py", "statuses.py"),
    *("formats/benchpack/json_schema.py", "packs/measured.py"),
)
VERIFYING_CODE = ("verify.py", "sandbox", "graders/static.py")
_OURS = ("warmup", "repetitions")
"""Defaults of a pack that no request carries."""


class BenchpackPlan(Jobs):
    """The benchpack cases of a configuration, and the specifications of their jobs."""

    def _load(self) -> None:
        config = self.config
        self.place = config.dirs["benchpacks"]
        loaded = benchpack.load_all(config.folder("benchpacks"))
        cases = [(pack, case) for pack in loaded.packs.values() for case in pack.cases]
        sources = {f"{pack.id}/{case.id}": PackCase(pack, case) for pack, case in cases}
        ids = [identifier for identifier in loaded.ids if identifier in sources]
        self.tasks = {identifier: _as_task(identifier, sources[identifier]) for identifier in ids}
        self.faults: dict[str, list[Fault]] = {
            identifier: loaded.faults[self.collection_of(identifier)]
            for identifier in loaded.ids
            if identifier not in sources
        }

    def collection_of(self, identifier: str) -> str:
        """The pack that an id starts with."""
        return identifier.split("/", 1)[0]

    def identifier(self, collection: str, case: str) -> str:
        """The id of the task whose files bear these names."""
        return f"{collection}/{case}"

    def skip(self, trial: Trial) -> str:
        """Why a trial makes no sense under its arm (not_applicable: nobody is asked), or the empty text."""
        arm = self.config.arms[trial.arm]
        model = self.config.models[arm["model"]] if "model" in arm else None
        return self._source(trial).misfit(trial.arm, arm, model)

    def harness(self, trial: Trial) -> str:
        """How a trial's case is answered under its arm."""
        return self._source(trial).harness(self.config.arms[trial.arm])

    def _source(self, trial: Trial) -> PackCase:
        source: PackCase = trial.task.source
        return source

    def repository_spec(self, task: Task) -> Specification:
        """What the `repository` stage is told: which folder of the pack a repo-task works on."""
        source, paths = task.source, self._task_paths(task)
        fixture = source.case.repo_fixture(source.pack)
        digest = self._repository_digest(task)
        about = {"id": task.id, "source": str(fixture.place), "leave_out": []}
        return {**about, "output": str(paths.inputs), "digest": digest}

    @functools.cache  # noqa: B019 (a plan lives as long as its process)
    def _repository_digest(self, task: Task) -> str:
        fixture = task.source.case.repo_fixture(task.source.pack)
        return digests.of_folder(fixture.place)

    def measure_spec(self, trial: Trial) -> Specification:
        """What the `measure` stage is told. It covers all repetitions, so every trial of a case has the same."""
        spec, paths = self._asked(trial), self._paths(trial)
        places = {
            "raw": paths.run / "raw",
            "output": paths.measured,
            "journal": paths.journal,
            "errors": paths.measuring_errors,
        }
        reference = trial.task.source.pack.oracle_of(trial.task.source.case)
        if "reference_digest" in spec:
            places["reference"] = reference
        return self._finished(spec, paths.measuring_errors, **places)

    def _asked(self, trial: Trial) -> Specification:
        source, arm = trial.task.source, self.config.arms[trial.arm]
        spec: Specification = {
            "pack": {"id": source.pack.id, "version": source.pack.version},
            "case": {"id": source.case.id, "prompt": source.case.prompt},
            "harness": arm["harness"],
            "defaults": self._defaults(trial),
            "repetitions": self.config.repetitions_of(trial.arm, trial.task.repetitions),
            "warmup": source.pack.warmup,
        }
        if "model" in arm:
            spec["model"] = self.config.asked_model(trial.arm)
        if arm["harness"] == "oracle" and source.pack.oracle_of(source.case):
            spec["reference_digest"] = digests.of_file(source.pack.oracle_of(source.case))
        return spec

    def _defaults(self, trial: Trial) -> dict[str, Any]:
        """The request's defaults: the pack's, and over them the arm's override."""
        override = self.config.arms[trial.arm].get("override", {})
        both = {**trial.task.source.pack.defaults, **override}
        return {name: value for name, value in both.items() if name not in _OURS}

    def session_spec(self, trial: Trial) -> Specification:
        """What the `session` stage is told: who works on the repository of a repo-task, with which answer."""
        paths = self._paths(trial)
        return self._finished(self._session(trial), paths.errors, measured=paths.measured)

    def _session(self, trial: Trial) -> Specification:
        source, arm = trial.task.source, self.config.arms[trial.arm]
        pack, case = source.pack, source.case
        measured = digests.of_value(self._asked(trial))
        spec: Specification = {
            "task": {"id": trial.task.id, "digest": digests.of_value([measured, self._repository_digest(trial.task)])},
            "pack": {"id": pack.id, "version": pack.version, "description": pack.description},
            "case": {
                "id": case.id,
                "kind": case.kind,
                "prompt": case.prompt,
                "fixture_refs": list(case.fixture_refs),
                "harness": case.harness,
            },
            "fixtures": [
                {"id": fixture.id, "kind": fixture.kind, "path": fixture.path, "description": fixture.description}
                for fixture in pack.fixtures
            ],
            "source": case.repo_fixture(pack).id,
            "arm": {"name": trial.arm, "harness": arm["harness"]},
            "adapter": self._adapter(trial),
            "repetition": trial.repetition,
        }
        if self._has_agent(trial):
            argv = external_agent.parse_argv(os.environ.get(external_agent.ARGV_VARIABLE))
            spec["agent"] = {"argv": argv, "env": self.config.agent_env, "read": self.config.agent_read}
        return spec

    def _has_agent(self, trial: Trial) -> bool:
        harness = trial.task.source.case.harness or {}
        return harness.get("id") == "external-agent" and "model" in self.config.arms[trial.arm]

    def _adapter(self, trial: Trial) -> dict[str, Any]:
        model = self.config.models.get(self.config.arms[trial.arm].get("model", ""), {})
        defaults = {**self._defaults(trial), "_openai_stream_usage": model.get("stream_usage", "include")}
        endpoint = model.get("base_url")
        return {"id": model.get("adapter"), "model": model.get("model"), "endpoint": endpoint, "defaults": defaults}

    def verify_spec(self, trial: Trial) -> Specification:
        """What the `verify` stage is told."""
        source, paths = trial.task.source, self._paths(trial)
        scoring = source.case.scoring
        spec: Specification = {
            "case": source.case.id,
            "pack": {"id": source.pack.id, "version": source.pack.version, "folder": str(source.pack.folder)},
            "script": scoring["script"],
            "timeout_s": scoring.get("timeout_s", 300.0),
            "environment": scoring.get("environment", {}),
            "verifier_env": list(self.config.verifier_env),
            "source_fixture_id": source.case.repo_fixture(source.pack).id,
            "sandbox": self.config.sandbox,
            "made_by": digests.of_value([self._script_digest(trial.task), digests.of_code(*VERIFYING_CODE)]),
        }
        return self._finished(
            spec,
            paths.errors,
            workspace=paths.workspace,
            patch=paths.patch,
            output=paths.verdict,
            logs=paths.verify,
            errors=paths.errors,
        )

    @functools.cache  # noqa: B019
    def _script_digest(self, task: Task) -> str:
        """The digest of a verify script and of what lies beside it, but for the scripts of other cases."""
        pack, case = task.source.pack, task.source.case
        script = pack.script_of(case)
        others = {pack.script_of(other) for other in pack.cases} - {script}
        beside = [path for path in sorted(script.parent.rglob("*")) if path.is_file() and path not in others]
        kept = [path for path in beside if "__pycache__" not in path.parts]
        return digests.of_value([[str(path.relative_to(script.parent)), digests.of_file(path)] for path in kept])

    def score_spec(self, trial: Trial) -> Specification:
        """What the `score` stage is told."""
        source, paths = trial.task.source, self._paths(trial)
        places: dict[str, Path] = {"output": paths.grade, "errors": paths.errors}
        spec: Specification = {
            "task": {"id": trial.task.id, "collection": source.pack.id, "case": source.case.id},
            "scoring": source.case.scoring,
            "repetition": trial.repetition,
            "digests": self.grade_digests(trial),
        }
        if skip := self.skip(trial):
            spec["skip"], spec["digests"]["trial"] = skip, self.trial_digest(trial)
        elif source.is_repo_task and source.verifies:
            places |= {"verify": paths.verdict, "trial": paths.outcome}
        else:
            places |= {"measured": paths.measured} | ({"trial": paths.outcome} if source.is_repo_task else {})
            spec |= self._scored_with(source)
        return self._finished(spec, paths.errors, **places)

    def _scored_with(self, source: PackCase) -> Specification:
        """What a scoring of text needs beside its table: a schema, or a judge and the prompt that it is shown."""
        mode = (source.case.scoring or {}).get("mode")
        if mode == "json-schema":
            return {"schema": source.pack.schema_of(source.case)}
        judge = (source.case.scoring or {}).get("judge", self.config.judge)
        if mode != "llm-judge" or judge not in self.config.models:
            return {}
        return {"judge": {"name": judge, **self.config.model_as_asked(judge)}, "prompt": source.case.prompt}

    def scored_files(self, trial: Trial) -> list[Path]:
        """What the score of a trial is made from: the last that was made before it."""
        source, paths = trial.task.source, self._paths(trial)
        if self.skip(trial):
            return []
        if source.is_repo_task:
            return [paths.verdict] if source.verifies else [paths.outcome]
        return [paths.measured]

    def outputs(self, trial: Trial) -> list[Output]:
        """The repository, the measured case, session, verdict and grade, as far as a trial has them."""
        source, task, paths = trial.task.source, self._task_paths(trial.task), self._paths(trial)
        planned = {"trial": self.trial_digest(trial), **self.grade_digests(trial)}
        grade = Output((paths.grade,), lambda: carries(paths.grade, planned))
        if self.skip(trial):
            return [grade]
        found = [Output((paths.measured,), lambda: self._is_measured(trial))]
        if source.is_repo_task:
            found.insert(0, Output((task.inputs,), lambda: self._has_repository(trial.task)))
            found.append(Output((paths.outcome, paths.patch), lambda: self._has_session(trial)))
            if source.verifies:
                said = (paths.verdict, verify_outcome(paths.verdict))
                found.append(Output(said, lambda: self._is_verified(trial)))
        return [*found, grade]

    def _has_repository(self, task: Task) -> bool:
        paths = self._task_paths(task)
        return paths.pristine.is_dir() and recorded(paths.inputs).get("made_from") == self._repository_digest(task)

    def _is_measured(self, trial: Trial) -> bool:
        """Whether all repetitions were measured from what the plan says; a torn file was not."""
        spec = self._asked(trial)
        digest = digests.of_value(spec)
        rows = list(files.read_jsonl(self._paths(trial).measured))
        return [row.get("digest") for row in rows] == [digest] * spec["repetitions"]

    def _has_session(self, trial: Trial) -> bool:
        paths = self._paths(trial)
        whole = paths.workspace.is_dir() or recorded(paths.outcome).get("status") != "ok"
        return paths.patch.exists() and whole and carries(paths.outcome, {"trial": self.trial_digest(trial)})

    def _is_verified(self, trial: Trial) -> bool:
        path = verify_outcome(self._paths(trial).verdict)
        return bool(recorded(path).get("digest") == self.verify_spec(trial)["digest"])

    def trial_digest(self, trial: Trial) -> str:
        """The digest of what an answer is made from: of the session for a repo-task, else of the measured case."""
        if trial.task.source.is_repo_task and not self.skip(trial):
            return digests.of_value(self._session(trial))
        return digests.of_value(self._asked(trial))

    def grade_digests(self, trial: Trial) -> dict[str, str]:
        """The digests of the scoring and of the code behind it."""
        source = trial.task.source
        made_by: list[Any] = [source.case.scoring, source.pack.schema_of(source.case)]
        if source.is_repo_task and source.verifies:
            made_by.append(self._script_digest(trial.task))
        code = digests.of_code(*SCORING_CODE, *VERIFYING_CODE)
        return {"grader": digests.of_value(made_by), "code": code}


def _as_task(identifier: str, source: PackCase) -> Task:
    own = source.pack.repetitions if "repetitions" in source.pack.defaults else None
    return Task("benchpack", identifier, source.pack.id, source.case.id, source, source.pack.id, repetitions=own)
