"""What can go wrong, as seen by a user.

RegradeError            a message to print and an exit code; never a traceback
  FaultsError           several faults in files that a user wrote, all at once
  UsageError            misuse of a command line
  SandboxError          the sandbox could not start or broke
  InputsError           a task's inputs could not be made
  NotApplicable         a trial makes no sense under its arm
  BudgetSpent           nobody is asked any more
  StaleError            a result on disk was not made from what the plan says
  StoreError, ProviderError, JudgeError, ScoringFault, BoundedError     beside what raises them
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

Severity = Literal["fault", "warning"]


@dataclass(frozen=True, order=True)
class Fault:
    """One thing wrong in a file: where (path and field) and what (found and expected)."""

    path: str
    field: str
    message: str
    severity: Severity = "fault"

    def __str__(self) -> str:
        place = f"{self.path}: {self.field}" if self.field else self.path
        mark = "warning: " if self.severity == "warning" else ""
        return f"{place}: {mark}{self.message}"


class RegradeError(Exception):
    """A user's mistake or a broken environment. `exit_code` is what a command ends with."""

    exit_code = 1


class FaultsError(RegradeError):
    """Faults found in one or more files; the message has a line for each."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        super().__init__("\n".join(str(fault) for fault in faults))


class UsageError(RegradeError):
    """Misuse of a command line, or a folder without any task."""

    exit_code = 2


class SandboxError(RegradeError):
    """The sandbox could not start, or ended without saying how."""


class InputsError(RegradeError):
    """A task's inputs could not be made; the message carries the generator's stderr."""


class NotApplicable(RegradeError):  # noqa: N818 (an answer, not a fault)
    """A trial that makes no sense under its arm: it is not run, and the message says why."""


class BudgetSpent(RegradeError):  # noqa: N818 (an answer, not a fault)
    """The limit on spending is reached: nobody is asked any more, and the message says so."""


class StaleError(RegradeError):
    """Results that were not made from what the plan says; the message names each."""


@contextmanager
def ending_in_one_line(made: str) -> Iterator[None]:
    """End the program with one line for a user's mistake, and for files (of what is `made`) that cannot be written."""
    try:
        yield
    except RegradeError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"{made} cannot be written: {error}. Make room or mend the folder, and start again")
