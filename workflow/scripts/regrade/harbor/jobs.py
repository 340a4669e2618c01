"""The folders that Harbor leaves: jobs, their trials, and each trial's result. What is broken is told, not guessed."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regrade.errors import UsageError

_RESULT = "result.json"
_OF_A_TRIAL = (_RESULT, "config.json", "trial.log")
_AGENT_PATCH = Path("artifacts", "opt", "selfbench", "agent.patch")


@dataclass(frozen=True)
class HarborTrial:
    """One trial: its job's name, its folder, its result, and how large the agent's patch is (None: there is none)."""

    job: str
    folder: Path
    result: dict[str, Any]
    patch_size: int | None


@dataclass
class Found:
    """Every trial that can be read, in the order of their names, and a line for each that cannot."""

    trials: list[HarborTrial] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def read_jobs(folder: Path) -> Found:
    """The trials of one job, or of all jobs in a folder. Raises UsageError where there is none."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: is no folder, expected one with Harbor's jobs")
    jobs = [folder] if any(_trial_folders(folder)) else [job for job in _folders(folder) if any(_trial_folders(job))]
    if not jobs:
        raise UsageError(f"{folder}: holds no trials, expected <job>/<trial>/{_RESULT}")
    found = Found()
    for job in jobs:
        for place in _trial_folders(job):
            _read(job, place, found)
    return found


def _read(job: Path, place: Path, found: Found) -> None:
    try:
        result = json.loads((place / _RESULT).read_bytes())
    except FileNotFoundError:
        found.broken.append(f"{place / _RESULT}: is not there, the trial did not end: run the job again")
        return
    except (OSError, ValueError, RecursionError) as error:
        found.broken.append(f"{place / _RESULT}: cannot be read: {error}, expected JSON")
        return
    wrong = _wrong(result)
    if wrong:
        found.broken.append(f"{place / _RESULT}: {wrong}")
    else:
        patch = place / _AGENT_PATCH
        found.trials.append(HarborTrial(job.name, place, result, patch.stat().st_size if patch.is_file() else None))


def _wrong(result: Any) -> str | None:
    """Why a value is no result of a trial that ended."""
    if not isinstance(result, dict):
        return "is no object, expected a trial's result"
    for key in ("task_name", "trial_name"):
        if not isinstance(result.get(key), str) or not result[key]:
            return f"{key} is {result.get(key)!r}, expected a text"
    if result.get("finished_at") is None:
        return "finished_at is empty, the trial did not end: run the job again"
    return None


def _trial_folders(job: Path) -> Iterator[Path]:
    return (place for place in _folders(job) if any((place / name).is_file() for name in _OF_A_TRIAL) and _ends(place))


def _ends(place: Path) -> bool:
    """Whether a folder is a trial's and not a job's: jobs hold trials."""
    return not any((below / name).is_file() for below in _folders(place) for name in _OF_A_TRIAL)


def _folders(folder: Path) -> list[Path]:
    return sorted(place for place in folder.iterdir() if place.is_dir())
