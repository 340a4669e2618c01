"""Where every file of a result lies: docs/data_files.md in code. The rules hold the same patterns."""

from dataclasses import dataclass
from pathlib import Path


def verify_outcome(verdict: Path) -> Path:
    """Where it says how a verify script ran, from the path of what it said."""
    return verdict.with_suffix(".outcome.json")


@dataclass(frozen=True)
class TaskPaths:
    """What a task's trials share: results/tasks/<format>/<collection>/<case>/."""

    results: Path
    format: str
    collection: str
    case: str

    @property
    def folder(self) -> Path:
        """The folder itself."""
        return self.results / "tasks" / self.format / self.collection / self.case

    @property
    def inputs(self) -> Path:
        """The manifest: digests of the inputs, or why they could not be made."""
        return self.folder / "inputs.json"

    @property
    def errors(self) -> Path:
        """Every failure to make the inputs, a line each."""
        return self.folder / "errors.jsonl"

    @property
    def pristine(self) -> Path:
        """The inputs themselves, read-only."""
        return self.folder / "workspace"


@dataclass(frozen=True)
class RunPaths:
    """One arm over one collection: results/runs/<arm>/<format>/<collection>/."""

    results: Path
    arm: str
    format: str
    collection: str

    @property
    def folder(self) -> Path:
        """The run directory."""
        return self.results / "runs" / self.arm / self.format / self.collection

    def trial(self, case: str, repetition: int) -> "TrialPaths":
        """The files of one of its trials."""
        return TrialPaths(self.folder, case, f"rep-{repetition:03d}")


@dataclass(frozen=True)
class TrialPaths:
    """One trial inside its run directory."""

    run: Path
    case: str
    rep: str

    @property
    def outcome(self) -> Path:
        """How the trial went, before grading."""
        return self.run / "task" / self.case / f"{self.rep}.trial.json"

    @property
    def kept(self) -> Path:
        """The same outcome where Snakemake does not know it, so that gates can be tried again without the trial."""
        return self.run / "task" / self.case / f"{self.rep}.kept.json"

    @property
    def errors(self) -> Path:
        """Every infrastructure error so far, a line each; what retries are counted from."""
        return self.run / "task" / self.case / f"{self.rep}.errors.jsonl"

    @property
    def measured(self) -> Path:
        """All measured repetitions of a pack's case, a row each."""
        return self.run / "task" / self.case / "measured.jsonl"

    @property
    def journal(self) -> Path:
        """The executions of a pack's case as they came in."""
        return self.run / "task" / self.case / "measured.journal.jsonl"

    @property
    def measuring_errors(self) -> Path:
        """Every failed measurement of a pack's case, a line each."""
        return self.run / "task" / self.case / "measured.errors.jsonl"

    def log(self, name: str) -> Path:
        """`stdout.log`, `stderr.log` or `transcript.jsonl` of what acted."""
        return self.run / "task" / self.case / f"{self.rep}.{name}"

    @property
    def workspace(self) -> Path:
        """What the trial left."""
        return self.run / "workspace" / self.case / self.rep

    @property
    def patch(self) -> Path:
        """What the trial changed in its inputs."""
        return self.run / "patch" / self.case / f"{self.rep}.diff"

    @property
    def grade(self) -> Path:
        """The verdict and what it was made from."""
        return self.run / "grade" / self.case / f"{self.rep}.json"

    @property
    def verify(self) -> Path:
        """The folder of what graders and verify scripts printed and wrote."""
        return self.run / "verify" / self.case

    @property
    def verdict(self) -> Path:
        """What a pack's verify script said."""
        return self.verify / f"{self.rep}.json"

    def raw(self, kind: str, single: bool) -> Path:
        """`request.json`, `response.json` or `calls.jsonl`; `single` when the task has one repetition."""
        infix = "" if single and kind != "calls.jsonl" else f".{self.rep}"
        return self.run / "raw" / f"{self.case}{infix}.{kind}"


@dataclass(frozen=True)
class AnswerPaths:
    """The answers to one shard of a selection, or to one data set: raw/<name>.jsonl and grade/<name>.jsonl.

    Of a set they lie in results/<set>/raw/<arm>/ and .../grade/<arm>/, of a run in its run directory.
    """

    raw_folder: Path
    grade_folder: Path
    name: str

    @property
    def raw(self) -> Path:
        """Requests and replies, a row each."""
        return self.raw_folder / f"{self.name}.jsonl"

    @property
    def grade(self) -> Path:
        """Verdicts, a row each."""
        return self.grade_folder / f"{self.name}.jsonl"

    @property
    def errors(self) -> Path:
        """Every answer that ended in an infrastructure error, a line each."""
        return self.raw_folder / f"{self.name}.errors.jsonl"

    @property
    def scoring_journal(self) -> Path:
        """Verdicts as they were given."""
        return self.grade_folder / f"{self.name}.journal.jsonl"

    @property
    def scoring_errors(self) -> Path:
        """Every verdict that could not be given, a line each."""
        return self.grade_folder / f"{self.name}.errors.jsonl"
