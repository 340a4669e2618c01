"""Harbor's job folders as records: how each trial counts, and what is told of folders that are broken."""

import json
from pathlib import Path
from typing import Any

import pytest

from regrade.cli import main
from regrade.record import NOTHING

REWARDS = {
    "reward": 1, "patch_applied": 1, "fail_to_pass": 1, "pass_to_pass": 1, "deterministic": 1, "setup_completed": 1,
    "fail_to_pass_exit_code": 0, "fail_to_pass_repeat_exit_code": 0, "pass_to_pass_exit_code": 0,
}  # fmt: skip
AGENT = {"name": "codex", "version": "1.0", "model_info": {"name": "gpt-5.6", "provider": "openai"}}
WHEN = {"started_at": "2026-12-01T10:00:00Z", "finished_at": "2026-12-01T10:01:30.5Z"}


def result(rewards: dict[str, Any] | None = None, ended: tuple[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """A trial's result as Harbor writes it."""
    exception = ended and {
        "exception_type": ended[0], "exception_message": ended[1], "exception_traceback": "", "occurred_at": "",
    }  # fmt: skip
    return {
        "id": "1", "task_name": "selfbench/calc-pr-7", "trial_name": "calc-pr-7__abcdefg", "trial_uri": "file:///x",
        "task_id": {"path": "/x"}, "source": None, "task_checksum": "c0ffee", "config": {}, "agent_info": AGENT,
        "agent_result": {"n_input_tokens": 100, "n_cache_tokens": 20, "n_output_tokens": 30, "cost_usd": 0.25},
        "verifier_result": None if rewards is None else {"rewards": rewards}, "exception_info": exception,
        **WHEN, "agent_execution": WHEN, **more,
    }  # fmt: skip


def write_trial(job: Path, name: str, value: Any, patch: str | None = "x") -> Path:
    """A trial's folder; a text is written as it is, None leaves the result out."""
    place = job / name
    (place / "verifier").mkdir(parents=True)
    (place / "config.json").write_text("{}")
    (job / "config.json").write_text("{}")
    (job / "result.json").write_text("{}")
    if value is not None:
        (place / "result.json").write_text(value if isinstance(value, str) else json.dumps(value))
    if patch is not None:
        (place / "artifacts/opt/selfbench").mkdir(parents=True)
        (place / "artifacts/opt/selfbench/agent.patch").write_text(patch)
    return place


def imported(capsys: pytest.CaptureFixture[str], folder: Path) -> tuple[int, list[dict[str, Any]], str]:
    """The command's exit code, the records that it prints, and what it says."""
    code = main(["import", "harbor", str(folder)])
    said = capsys.readouterr()
    return code, [json.loads(line) for line in said.out.splitlines()], said.err


LATE = ("AgentTimeoutError", "Agent execution timed out after 2400.0 seconds")
FAILED = {**REWARDS, "reward": 0, "fail_to_pass": 0}


@pytest.mark.parametrize(
    ("value", "patch", "expected"),
    [
        (result(REWARDS), "x", ("passed", None, 1.0)),
        (result(FAILED), "x", ("failed", "tests_failed", 0.0)),
        (result(FAILED), "", ("failed", "empty_patch", 0.0)),
        (result({**FAILED, "patch_applied": 0}), "x", ("failed", "patch_rejected", 0.0)),
        (result(FAILED, LATE), "x", ("failed", "agent_timeout", 0.0)),
        (result(None, LATE), "x", ("failed", "agent_timeout", 0.0)),
        (result(REWARDS, LATE), "x", ("passed", None, 1.0)),
        (result(None, ("RuntimeError", "Docker daemon is not running.")), None, ("error", "sandbox_error", None)),
        (result(REWARDS, ("RuntimeError", "Docker daemon is not running.")), "x", ("error", "sandbox_error", None)),
        (result(None, ("ApiRateLimitError", "429")), None, ("error", "provider_error", None)),
        (result(None, ("RewardFileNotFoundError", "no")), "x", ("error", "verifier_error", None)),
        (result(None), "x", ("error", "verifier_error", None)),
        (result({"reward": "1"}), "x", ("error", "verifier_error", None)),
        (result(None, ("ValueError", "odd")), "x", ("error", "sandbox_error", None)),
    ],
)
def test_how_a_trial_counts(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    value: dict[str, Any],
    patch: str | None,
    expected: tuple[str, str | None, float | None],
) -> None:
    """Rewards decide between passed and failed; machinery, providers and verifiers that broke are errors."""
    write_trial(tmp_path / "job", "calc-pr-7__abcdefg", value, patch)
    code, (row,), _ = imported(capsys, tmp_path)
    status, reason, score = expected
    passed = None if status == "error" else status == "passed"
    assert (0, status, reason, passed, score) == (code, row["status"], row["reason"], row["passed"], row["score"])


def test_a_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A record has every field of ours, and Harbor's counts, costs and times."""
    write_trial(tmp_path / "job", "calc-pr-7__abcdefg", result(REWARDS))
    _, (row,), _ = imported(capsys, tmp_path)
    expected = {
        "schema_version": 1, "task": "calc-pr-7", "format": "selfbench", "collection": "selfbench",
        "arm": "harbor-codex-openai-gpt-5.6", "model": "openai/gpt-5.6", "harness": "harbor/codex", "repetition": 1,
        "cost_usd": 0.25, "tokens": {"prompt": 100, "output": 30, "cached_prompt": 20, "reasoning": None},
    }  # fmt: skip
    assert expected == {key: row[key] for key in expected}
    assert (90.5, "c0ffee") == (row["timing"]["wall_s"], row["digests"]["task"])
    assert set(NOTHING) <= set(row)


def test_values_that_are_no_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What Harbor does not say, or says as no number, is unknown."""
    odd = result(REWARDS, agent_result={"n_input_tokens": "7", "cost_usd": float("nan")}, agent_execution={"x": 1})
    write_trial(tmp_path / "job", "a", odd)
    write_trial(tmp_path / "job", "b", result(REWARDS, agent_result=None, agent_info=None, agent_execution=None))
    for row in imported(capsys, tmp_path)[1]:
        assert (None, None, None, None) == (
            row["tokens"]["prompt"],
            row["cost_usd"],
            row["timing"]["wall_s"],
            row["turns"],
        )


def test_repetitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Trials of a task by the same agent and model are repetitions, over all jobs in the order of their names."""
    other = result(FAILED, task_name="selfbench/other")
    for job, name, value in (
        ("b", "calc-pr-7__1", result(FAILED)),
        ("a", "calc-pr-7__2", result(REWARDS)),
        ("a", "x", other),
    ):
        write_trial(tmp_path / job, name, value)
    _, rows, _ = imported(capsys, tmp_path)
    expected = [("calc-pr-7", 1, True), ("other", 1, False), ("calc-pr-7", 2, False)]
    assert expected == [(row["task"], row["repetition"], row["passed"]) for row in rows]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "is not there, the trial did not end: run the job again"),
        ("{", "cannot be read: "),
        ("[" * 100_000, "cannot be read: "),
        ("[]", "is no object, expected a trial's result"),
        (result(REWARDS, task_name=7), "task_name is 7, expected a text"),
        (result(REWARDS, finished_at=None), "finished_at is empty, the trial did not end: run the job again"),
    ],
    ids=["missing", "cut", "deep", "list", "name", "unfinished"],
)
def test_broken_trials(tmp_path: Path, capsys: pytest.CaptureFixture[str], value: Any, expected: str) -> None:
    """A trial that cannot be read is named in one line; the others become records all the same."""
    write_trial(tmp_path / "job", "a", value)
    write_trial(tmp_path / "job", "b", result(REWARDS))
    code, rows, said = imported(capsys, tmp_path / "job")
    assert (1, 1, 1) == (code, len(rows), said.count("\n"))
    assert f"{tmp_path / 'job' / 'a' / 'result.json'}: {expected}" in said


def test_no_trials(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without a trial, and none at all, are misuse."""
    assert (2, [], f"{tmp_path}: holds no trials, expected <job>/<trial>/result.json\n") == imported(capsys, tmp_path)
    code, _, said = imported(capsys, tmp_path / "nowhere")
    assert (2, f"{tmp_path / 'nowhere'}: is no folder, expected one with Harbor's jobs\n") == (code, said)


def test_records_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --out the records are written as other records are."""
    write_trial(tmp_path / "jobs/job", "a", result(REWARDS))
    assert 0 == main(["import", "harbor", str(tmp_path / "jobs"), "--out", str(tmp_path / "records.jsonl")])
    rows = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert ["schema_version", "task", "format"] == list(rows[0])[:3]
