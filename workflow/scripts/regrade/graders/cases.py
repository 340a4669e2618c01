"""A task's own negative cases as data: the file is foreign code, so it is loaded and applied in a sandbox."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regrade import sandbox
from regrade.errors import RegradeError
from regrade.graders.channel import Channel
from regrade.graders.places import CASE_RUNNER, GRADER, ON_PATH, PYTHON, program, seen

LIMITS = sandbox.Limits(wall_s=120, cpu_s=120, memory_mb=4096, processes=64, disk_mb=64)
LARGEST = 512 * 1024 * 1024
FILE = "negative_cases.py"


@dataclass(frozen=True)
class Case:
    """One wrong artifact. `text` is None if there is none, and `fault` says why."""

    name: str
    text: str | None
    expected_substring: str = ""
    currently_caught: bool = True
    notes: str = ""
    own: bool = True
    """From the task's own file, so that a miss counts."""
    fault: str = ""


def own_cases(grader: Path, reference: str, mode: sandbox.Mode = "bubblewrap") -> list[Case] | None:
    """The cases of a grader folder's negative_cases.py applied to the reference's text.

    None if there is no such file, or no NEGATIVE_CASES in it. Raises RegradeError if the file cannot be used.
    """
    if not (grader / FILE).is_file():
        return None
    folder, on_path, runner = sandbox.Mount(grader, GRADER), program(ON_PATH), program(CASE_RUNNER)
    with Channel(LARGEST) as channel:
        order = {"grader": seen(folder, mode), "on_path": [seen(on_path, mode)], "result": channel.descriptor}
        outcome = sandbox.run(
            sandbox.Command(
                argv=[*PYTHON, seen(runner, mode), json.dumps(order)],
                mounts=[folder, on_path, runner],
                cwd="/tmp",  # noqa: S108 (a private tmpfs inside)
                limits=LIMITS,
                environment={"PYTHONHASHSEED": "0", "TZ": "UTC"},
                pass_fds={channel.descriptor: ""},
                stdin=reference.encode(),
                mode=mode,
            )
        )
    return _read(channel, outcome)


def _read(channel: Channel, outcome: sandbox.Outcome) -> list[Case] | None:
    lines = channel.content.splitlines()
    if channel.cut or not lines or lines[-1] != b"{}":
        how = f"was stopped by the {outcome.stopped_by} limit" if outcome.stopped_by else "ended its process"
        raise RegradeError(f"{FILE} {'made texts that are too large' if channel.cut else how}")
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines[:-1]]
    if rows and "name" not in rows[0]:
        if "fault" in rows[0]:
            raise RegradeError(f"{FILE} cannot be used: {rows[0]['fault']}")
        return None
    return [
        Case(
            name=row["name"],
            text=row.get("text"),
            expected_substring=row["expected_substring"],
            currently_caught=row["currently_caught"],
            notes=row["notes"],
            fault=row.get("fault", ""),
        )
        for row in rows
    ]
