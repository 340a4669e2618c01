"""Held-out tests on one patch: what Harbor's verifier script does, on files that were set up here.

The base with the patch on it, less what it did to tests and to the configuration of what runs them; then the held-out
tests are laid over it. Fail-to-pass tests run twice if they pass, pass-to-pass tests once. Exit codes decide, and where
a runner reports (pytest), what it reported as well.
"""

import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from regrade import sandbox
from regrade.formats.selfbench import diffs
from regrade.formats.selfbench.expansion import command, exclusions, held_out
from regrade.formats.selfbench.load import SelfbenchTask
from regrade.git import GitError, git
from regrade.held_out import app
from regrade.held_out.network import looks_like_network
from regrade.held_out.prepared import Prepared
from regrade.held_out.selectors import outcomes
from regrade.repository_tests.report import Channel, channel
from regrade.repository_tests.restoring.trees import CannotRestoreError, restore
from regrade.repository_tests.selfbench import restored
from regrade.workspace import copy_file, make_folder, remove

NOT_RUN = -1
MOST_FIXED = 500
"""Held-out files that tests find read-only; others could be changed by the code under test while it runs."""

_REPORTER = Path(__file__).with_name("pytest_reporter.py")
_NODE_REPORTER = Path(__file__).with_name("node_reporter.mjs")
_REPORTER_FOLDER = "/regrade-report"
_GLOBS = str.maketrans({sign: f"\\{sign}" for sign in "\\*?["})


@dataclass(frozen=True)
class Ran:
    """One command: how it ended, and the tests that passed and failed by file where its runner reported."""

    ended: app.Ended
    report: dict[str, dict[str, int]] | None = None
    selectors: dict[str, str] | None = None
    """What became of each selector, likewise."""

    forged: str = ""
    """Why an exit code of 0 is not believed."""

    @property
    def passed(self) -> bool:
        return self.ended.code == 0 and not self.forged

    @property
    def count(self) -> int | None:
        """Tests that passed, None where nobody reported."""
        return None if self.report is None else sum(counts.get("passed", 0) for counts in self.report.values())


@dataclass(frozen=True)
class Graded:
    """What tests said of a patch. `reason` is a word of statuses.TABLE, empty for a pass.

    `rewards` has the keys of Harbor's reward.json, `tests` the counts by command and file where the runner reported.
    """

    reason: str
    detail: str
    rewards: dict[str, int]
    tests: dict[str, dict[str, dict[str, int]] | None] = field(default_factory=dict)
    selectors: dict[str, dict[str, str] | None] = field(default_factory=dict)
    """What became of each selector (selectors.py), likewise."""

    network: bool = False
    restored: list[str] = field(default_factory=list)
    log: bytes = b""
    about: dict[str, Any] = field(default_factory=dict)
    cpu_s: float = 0.0
    wall_s: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """Passed tests by command, where they were reported."""
        found = {name: files for name, files in self.tests.items() if files is not None}
        return {name: sum(counts.get("passed", 0) for counts in files.values()) for name, files in found.items()}


def grade(
    task: SelfbenchTask,
    patch: bytes,
    prepared: Prepared,
    mode: str,
    *,
    level: int = 1,
    reported: bool = True,
    least: Mapping[str, int] | None = None,
) -> Graded:
    """Run a task's tests on a patch against its base.

    `level` is the number of parts before a name in the patch, `reported` whether the runner is known to report (then a
    pass without a report is forged), `least` how many tests pass with the reference solution. Raises SandboxError,
    and OSError for a full disk.
    """
    with _place() as place:
        place.make(prepared.verifier, prepared.verifier_home)
        try:
            changed = _apply_patch(task, patch, place.app, level)
        except GitError as error:
            return _ungraded("patch_rejected", f"the patch does not apply to the base commit: {error}", setup=0)
        try:
            put_back = restore(prepared.base, place.app, changed, **restored(task, task.gold_patch))
            tests_level = diffs.strip_level(task.test_patch)
            git(place.app, "apply", f"-p{tests_level}", "--binary", "--whitespace=nowarn", stdin=task.test_patch)
        except (CannotRestoreError, GitError) as error:
            return _ungraded("patch_rejected", f"the held-out tests cannot stand on the patch: {error}", setup=1)
        runs = _run_all(task, place, mode, reported, least or {})
        return _graded(runs, put_back, is_empty=not patch)


def _run_all(
    task: SelfbenchTask, place: app.Place, mode: str, reported: bool, least: Mapping[str, int]
) -> dict[str, Ran]:
    definition = task.definition
    fixed = list(_held_out_files(task, place.app))[:MOST_FIXED]
    runner = _Runner(task, place, mode, reported, fixed)
    runs = {"fail_to_pass": runner.run(definition.fail_to_pass, least.get("fail_to_pass", 0))}
    if runs["fail_to_pass"].passed:
        runs["fail_to_pass_repeat"] = runner.run(definition.fail_to_pass, least.get("fail_to_pass", 0))
    runs["pass_to_pass"] = runner.run(definition.pass_to_pass, least.get("pass_to_pass", 0))
    return runs


def _held_out_files(task: SelfbenchTask, tree: Path) -> Iterator[str]:
    for name in held_out(task):
        place = tree / name
        if place.is_file() and not place.is_symlink():
            yield name


@contextmanager
def _place() -> Iterator[app.Place]:
    folder = Path(tempfile.mkdtemp(prefix="regrade-held-out-"))
    try:
        yield app.Place(folder)
    finally:
        remove(folder)


def _apply_patch(task: SelfbenchTask, patch: bytes, tree: Path, level: int) -> list[str]:
    """Apply a patch but for held-out paths; the names that it writes or removes. Raises GitError."""
    if not patch:
        return []
    without = exclusions(path.translate(_GLOBS) for path in held_out(task))
    git(tree, "apply", f"-p{level}", "--binary", "--whitespace=nowarn", *without, stdin=patch)
    listed = git(tree, "apply", f"-p{level}", "--numstat", "-z", stdin=patch)
    return [entry.split(b"\t", 2)[2].decode(errors="surrogateescape") for entry in listed.split(b"\0") if entry]


@dataclass(frozen=True)
class _Runner:
    """Runs the tests of one tree."""

    task: SelfbenchTask
    place: app.Place
    mode: str
    reported: bool
    fixed: Sequence[str]

    def run(self, selectors: Sequence[str], least: int) -> Ran:
        """Run some tests; without a selector nothing is run and nothing can fail."""
        if not selectors:
            return Ran(app.Ended(0, None, b"", 0.0, 0.0))
        if not self.reported:
            return Ran(self._ended(selectors, None))
        with channel({}) as told:
            ended = self._ended(selectors, told)
            said = told.report()
        if said is None:
            return Ran(ended, forged=_forged(None, Ran(ended), least) if ended.code == 0 else "")
        workdir = self.task.definition.workdir
        ran = Ran(ended, said["files"], outcomes(selectors, workdir, said["files"], said.get("tests", {})))
        return replace(ran, forged=_forged(said, ran, least) if ended.code == 0 else "")

    def _ended(self, selectors: Sequence[str], told: Channel | None) -> app.Ended:
        definition = self.task.definition
        bounds = app.Bounds.of(definition, definition.timeouts.tests_seconds)
        with ExitStack() as stack:
            mounts, environment = stack.enter_context(_reporting(self.mode)) if told else ([], {})
            if told:
                environment["REGRADE_ROOT"] = app.APP if self.mode == "bubblewrap" else str(self.place.app.resolve())
            return app.run(
                self.place,
                command(definition, selectors),
                definition.workdir,
                bounds,
                self.mode,
                mounts=mounts,
                fixed=self.fixed,
                environment=environment,
                descriptors=told.descriptors if told else None,
            )


@contextmanager
def _reporting(mode: str) -> Iterator[tuple[list[sandbox.Mount], dict[str, str]]]:
    """What makes a runner of a command report: plugins of ours, under a name that is nowhere in the repository."""
    folder = Path(tempfile.mkdtemp(prefix="regrade-reporter-"))
    try:
        make_folder(folder)
        name = f"regrade_report_{secrets.token_hex(8)}"
        copy_file(_REPORTER, folder / f"{name}.py")
        copy_file(_NODE_REPORTER, folder / f"{name}.mjs")
        place = _REPORTER_FOLDER if mode == "bubblewrap" else str(folder)
        for_pytest = {"PYTHONPATH": place, "PYTEST_ADDOPTS": f"-p {name}"}
        node = f"--test-reporter=spec --test-reporter-destination=stdout --test-reporter={place}/{name}.mjs"
        for_node = {"NODE_OPTIONS": f"{node} --test-reporter-destination=/dev/null"}
        yield [sandbox.Mount(folder, _REPORTER_FOLDER)], {**for_pytest, **for_node}
    finally:
        remove(folder)


def _forged(said: dict[str, Any] | None, ran: Ran, least: int) -> str:
    """Why an exit code of 0 is not believed."""
    if said is None:
        return "the runner did not come to its own end"
    failed = [name for name, counts in said["files"].items() if counts.get("failed") or counts.get("error")]
    if said["exit"] != 0 or failed:
        return f"the runner's own was {said['exit']}; failed: {', '.join(failed[:5]) or 'none'}"
    if said.get("false") == "passed":
        return "a test passed that is always false: the code under test changed the runner"
    if (ran.count or 0) < least:
        return f"{ran.count} tests passed, expected the {least} that pass with the reference solution"
    return ""


def _ungraded(reason: str, detail: str, setup: int) -> Graded:
    """The verdict on a patch on which no test can be run."""
    flags = dict.fromkeys(("reward", "patch_applied", "fail_to_pass", "pass_to_pass", "deterministic"), 0)
    codes = ("fail_to_pass_exit_code", "fail_to_pass_repeat_exit_code", "pass_to_pass_exit_code")
    return Graded(reason, detail, {**flags, "setup_completed": setup, **dict.fromkeys(codes, NOT_RUN)})


def _graded(runs: dict[str, Ran], put_back: list[str], is_empty: bool) -> Graded:
    first, repeat, others = runs["fail_to_pass"], runs.get("fail_to_pass_repeat"), runs["pass_to_pass"]
    flags = {
        "patch_applied": 1,
        "fail_to_pass": int(first.passed),
        "pass_to_pass": int(others.passed),
        "deterministic": int(repeat is not None and repeat.passed),
    }
    rewards = {
        "reward": int(all(flags.values())),
        **flags,
        "setup_completed": 1,
        "fail_to_pass_exit_code": first.ended.code,
        "fail_to_pass_repeat_exit_code": repeat.ended.code if repeat else NOT_RUN,
        "pass_to_pass_exit_code": others.ended.code,
    }
    bad = [ran for ran in runs.values() if not ran.passed]
    return Graded(
        _reason(rewards, bad, is_empty),
        "; ".join(_told(name, ran) for name, ran in runs.items()),
        rewards,
        {name: ran.report for name, ran in runs.items()},
        {name: ran.selectors for name, ran in runs.items()},
        any(looks_like_network(ran.ended.output) for ran in bad),
        put_back,
        b"".join(_logged(name, ran) for name, ran in runs.items()),
        first.ended.about,
        sum(ran.ended.cpu_s or 0.0 for ran in runs.values()),
        sum(ran.ended.wall_s for ran in runs.values()),
    )


def _reason(rewards: Mapping[str, int], bad: Sequence[Ran], is_empty: bool) -> str:
    if rewards["reward"]:
        return ""
    if any(ran.forged for ran in bad):
        return "forged_result"
    return "empty_patch" if is_empty else "tests_failed"


def _told(name: str, ran: Ran) -> str:
    what = name.replace("_to_", "-to-").replace("_", " ")
    if ran.forged:
        return f"{what}: exit code 0, but {ran.forged}"
    if ran.passed:
        return f"{what} passed"
    network = " (looks like the network, which tests do not have)" if looks_like_network(ran.ended.output) else ""
    return f"{what} {ran.ended.ending}{network}"


def _logged(name: str, ran: Ran) -> bytes:
    return b"== %s: %s\n%s\n" % (name.encode(), ran.ended.ending.encode(), ran.ended.output.rstrip(b"\n"))
