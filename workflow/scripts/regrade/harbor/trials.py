"""What the result of a Harbor trial says: rewards, failures of the machinery, whether a task passed its gates."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

REWARDS = (
    *("reward", "patch_applied", "fail_to_pass", "pass_to_pass", "deterministic", "setup_completed"),
    *("fail_to_pass_exit_code", "fail_to_pass_repeat_exit_code", "pass_to_pass_exit_code"),
)
"""The keys of a reward.json, in its order."""

_ORACLE = ("patch_applied", "fail_to_pass", "pass_to_pass", "deterministic", "setup_completed")
_STDERR = 1000
_INFRASTRUCTURE = re.compile(
    r"docker daemon|docker compose.*failed|(?:is|was) unavailable|service unavailable|mounts denied"
    r"|image build for \S+ failed|failed to (?:build|pull|create|start) (?:the )?(?:image|container|sandbox)"
    r"|(?:error|failed) (?:building|pulling) image|(?:sandbox|container) (?:not found|terminated|creation failed)"
    r"|toomanyrequests|too many requests|rate limit|quota exceeded|no space left on device|out of disk space"
    r"|connection (?:refused|reset|error)|cannot connect|could not connect|network is unreachable|name resolution"
    r"|tls handshake timeout|i/o timeout|token (?:missing|expired)|unauthori[sz]ed|authentication (?:failed|required)",
    re.IGNORECASE | re.DOTALL,
)
_INFRASTRUCTURE_TYPES = re.compile(
    r"(?:Environment|Sandbox|Docker|Modal|Daytona|Infrastructure)\w*(?:Error|Failed|Timeout|Unavailable)"
)


def numbers(value: Any) -> dict[str, float]:
    """The numeric rewards of a trial's result."""
    found = _get(_get(value, "verifier_result"), "rewards")
    return {key: item for key, item in found.items() if is_number(item)} if isinstance(found, Mapping) else {}


def exception(value: Any) -> str | None:
    """What ended a trial early, `type: message`; None if nothing did."""
    found = _get(value, "exception_info")
    if found is None:
        found = _get(value, "exception")
    if found is None or isinstance(found, str):
        return found or None
    if not isinstance(found, Mapping):
        return str(found)
    said = [found.get(key) for key in ("exception_type", "exception_message")]
    return ": ".join(part for part in said if isinstance(part, str) and part) or "unknown exception"


def infrastructure_error(value: Any) -> str | None:
    """Why the machinery, and nobody's work, failed a trial; None if it did not."""
    found = _get(value, "exception_info")
    if not isinstance(found, Mapping):
        return None
    kind, message = (str(found.get(key) or "") for key in ("exception_type", "exception_message"))
    is_machinery = _INFRASTRUCTURE_TYPES.fullmatch(kind) or _INFRASTRUCTURE.search(message)
    return f"{kind}: {message}" if is_machinery else None


def passed(value: Any) -> bool:
    """Whether a trial passed: no exception, and a reward of 1; without `reward`, every number at least 1."""
    found = numbers(value)
    if exception(value) is not None or not found:
        return False
    return found["reward"] >= 1 if "reward" in found else all(number >= 1 for number in found.values())


def summarise(value: Any, task_id: str, model: str, job_name: str) -> dict[str, Any]:
    """One line of a matrix of models and tasks. Raises ValueError for what is no result."""
    if not isinstance(value, Mapping):
        raise ValueError(f"invalid Harbor result for {task_id}/{model}")
    ended = exception(value)
    about = {"taskId": task_id, "model": model, "jobName": job_name, "passed": passed(value), "rewards": numbers(value)}
    return about if ended is None else {**about, "exception": ended}


@dataclass(frozen=True)
class HarborRun:
    """One call of Harbor: its exit code, what it wrote to stderr, and the trial's result if there is one."""

    exit_code: int = 0
    stderr: str = ""
    trial: Any = None


@dataclass(frozen=True)
class Gates:
    """Whether a task may be used. `error` says why nobody knows: then it is neither accepted nor refused."""

    status: str
    accepted: bool
    nop_passed: bool | None = None
    oracle_passed: bool | None = None
    error: str | None = None


def gates(nop: HarborRun, oracle: HarborRun) -> Gates:
    """Hold the two runs against the gates."""
    for name, run in (("nop", nop), ("oracle", oracle)):
        if run.exit_code:
            return Gates("error", False, error=f"Harbor {name} exited {run.exit_code}: {run.stderr[-_STDERR:]}")
        if broken := infrastructure_error(run.trial):
            return Gates("error", False, error=f"Harbor {name} infrastructure failure: {broken}")
    found = nop_passes(nop.trial), oracle_passes(oracle.trial)
    return Gates("validated", all(found), *found)


def nop_passes(trial: Any) -> bool:
    """Whether doing nothing fails as it should: the hidden tests do not pass, all others do."""
    found = _complete(trial)
    return found is not None and found["fail_to_pass"] == 0 and found["pass_to_pass"] >= 1 <= found["setup_completed"]


def oracle_passes(trial: Any) -> bool:
    """Whether the reference solution passes, twice."""
    found = _complete(trial)
    return found is not None and all(found[key] >= 1 for key in _ORACLE)


def _complete(trial: Any) -> dict[str, float] | None:
    """The rewards of a trial that ended without an exception and has every key; None of another."""
    found = numbers(trial)
    return found if exception(trial) is None and all(key in found for key in REWARDS) else None


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
