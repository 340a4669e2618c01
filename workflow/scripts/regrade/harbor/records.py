"""Trials that Harbor ran, as records: the same fields as those of our own trials."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from regrade.harbor.jobs import HarborTrial
from regrade.harbor.trials import exception, infrastructure_error, is_number, numbers
from regrade.record import NOTHING, SCHEMA_VERSION
from regrade.statuses import status_of

_OF_THE_PROVIDER = re.compile(r"(?:Api|AgentAuthentication|AgentSafety|Model|NetworkConnection|RequestThrottled)\w*")
_AGENT_TIMEOUT = "AgentTimeoutError"
_VERIFIER = ("VerifierTimeoutError", "VerifierOutputParseError", "RewardFileNotFoundError", "RewardFileEmptyError")


class _Verdict(NamedTuple):
    reason: str
    message: str


def records(trials: Iterable[HarborTrial]) -> Iterator[dict[str, Any]]:
    """A row for each trial; trials of one task under one arm are its repetitions, in their order."""
    seen: Counter[tuple[str, str]] = Counter()
    for trial in trials:
        task, arm = task_id(trial.result), arm_of(trial.result)
        seen[task, arm] += 1
        yield _record(trial, task, arm, seen[task, arm])


def task_id(result: Mapping[str, Any]) -> str:
    """The task's id: Harbor's name of it without the organisation."""
    return str(result["task_name"]).removeprefix("selfbench/")


def arm_of(result: Mapping[str, Any]) -> str:
    """An arm's name for the agent and the model that worked on a trial."""
    model = _model(result)
    return f"harbor-{_agent(result)}" + (f"-{re.sub('[^A-Za-z0-9._-]', '-', model)}" if model else "")


def verdict(trial: HarborTrial) -> _Verdict:
    """Why a trial has its status (an empty reason: it passed), and what there is to say."""
    rewards, ended = numbers(trial.result), exception(trial.result) or ""
    kind = ended.partition(":")[0]
    if infrastructure_error(trial.result) or _OF_THE_PROVIDER.fullmatch(kind):
        return _Verdict("provider_error" if _OF_THE_PROVIDER.fullmatch(kind) else "sandbox_error", ended)
    if ended and kind != _AGENT_TIMEOUT:
        return _Verdict("verifier_error" if kind in _VERIFIER else "sandbox_error", ended)
    if "reward" not in rewards:
        return _Verdict("agent_timeout", ended) if ended else _Verdict("verifier_error", "there is no numeric reward")
    if rewards["reward"] >= 1:
        return _Verdict("", ended)
    return _Verdict("agent_timeout" if ended else _failure(rewards, trial.patch_size), ended)


def _failure(rewards: Mapping[str, float], patch_size: int | None) -> str:
    if patch_size == 0:
        return "empty_patch"
    return "patch_rejected" if rewards.get("patch_applied") == 0 else "tests_failed"


def _record(trial: HarborTrial, task: str, arm: str, repetition: int) -> dict[str, Any]:
    result, found = trial.result, verdict(trial)
    status = status_of(found.reason) if found.reason else "passed"
    judged = status in ("passed", "failed")
    rewards = numbers(result)
    return {
        "schema_version": SCHEMA_VERSION,
        "task": task,
        "format": "selfbench",
        "collection": "selfbench",
        "category": None,
        "difficulty": None,
        "tags": [],
        "arm": arm,
        "model": _model(result) or None,
        "harness": f"harbor/{_agent(result)}",
        "repetition": repetition,
        "status": status,
        "reason": found.reason or None,
        "message": found.message or None,
        "passed": status == "passed" if judged else None,
        "score": min(1.0, max(0.0, float(rewards.get("reward", 0.0)))) if judged else None,
        "detail": ", ".join(f"{name}={number:g}" for name, number in rewards.items()),
        **NOTHING,
        "turns": None,
        "timing": {**NOTHING["timing"], "wall_s": _seconds(result.get("agent_execution"))},
        "tokens": _tokens(result),
        "cost_usd": _number(_part(result, "agent_result").get("cost_usd")),
        "sandbox": None,
        "digests": {**dict.fromkeys(("task", "request", "work", "grader", "code")), "task": _checksum(result)},
        "earlier": None,
        "suite": None,
    }


def _part(result: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = result.get(key)
    return found if isinstance(found, Mapping) else {}


def _agent(result: Mapping[str, Any]) -> str:
    return str(_part(result, "agent_info").get("name") or "agent")


def _model(result: Mapping[str, Any]) -> str:
    """`provider/name` of the model, empty where the agent asks none."""
    about = _part(_part(result, "agent_info"), "model_info")
    return "/".join(str(about[key]) for key in ("provider", "name") if about.get(key))


def _tokens(result: Mapping[str, Any]) -> dict[str, int | None]:
    counted = _part(result, "agent_result")
    names = {"prompt": "n_input_tokens", "output": "n_output_tokens", "cached_prompt": "n_cache_tokens"}
    return {**NOTHING["tokens"], **{name: _number(counted.get(key)) for name, key in names.items()}}


def _checksum(result: Mapping[str, Any]) -> str | None:
    found = result.get("task_checksum")
    return found if isinstance(found, str) else None


def _number(value: Any) -> Any:
    return value if is_number(value) else None


def _seconds(timing: Any) -> float | None:
    """How long a phase took, None if Harbor does not say."""
    if not isinstance(timing, Mapping):
        return None
    try:
        started, ended = (datetime.fromisoformat(str(timing[key])) for key in ("started_at", "finished_at"))
        return round((ended - started).total_seconds(), 3)
    except (KeyError, TypeError, ValueError):
        return None
