"""Type `pass_at_k`: from n samples, how likely one of k passes an inner scoring.

k                 None: as many as there are samples
n, samples        how many to ask for, at least k
inner_type        how a sample is scored (default code_exec), by the other keys of the same scoring
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from regrade import statistics
from regrade.formats.suite.task import SuiteTask
from regrade.scorers.suite.numbers import as_count
from regrade.scorers.suite.scored import Response, Score, Tools, no_verdict, partly

INNER = "code_exec"
DIGITS = 4
"""Of an estimate, before it is held against the threshold."""

_OWN = ("k", "n", "samples", "inner_type", "type")


def draws(task: SuiteTask, repetitions: int) -> int:
    """How many samples to ask for: `n`, else `samples`, else `repetitions`; never fewer than k."""
    said = _whole(task.scoring.get("n")) or _whole(task.scoring.get("samples")) or repetitions
    return max(1, said, _whole(task.scoring.get("k")) or 1)


def score(task: SuiteTask, responses: Sequence[Response], tools: Tools) -> Score:
    """The unbiased estimate of pass@k; `about` has pass^k beside it. A sample that passes has the task's threshold.

    A sample whose call failed, or that nobody could judge, is none; with fewer than k there is no verdict.
    """
    said = task.scoring.get("k")
    k = len(responses) if said is None else _whole(said)
    if k is None:
        return no_verdict("grader_error", f"the task's k is {said!r:.60}, expected a whole number from 1")
    inner = _inner(task)
    if inner.scoring_type == "pass_at_k":
        return no_verdict("grader_error", "the task's inner_type is 'pass_at_k', expected one that scores an answer")
    scored = [_scored(inner, response, tools) for response in responses]
    valued = [found.value for found in scored if found.value is not None]
    n, passed = len(valued), sum(value >= task.pass_threshold for value in valued)
    value, all_pass = statistics.pass_at_k(n, passed, k), statistics.pass_hat_k(n, passed, k)
    about: dict[str, Any] = {"samples": n, "passed_samples": passed, "k": k, "pass_hat_k": all_pass}
    if value is None or n == 0:
        return _undefined(scored, f"{n} samples for k = {k}", about)
    short = next((found for found in scored if found.value is not None and found.value < task.pass_threshold), None)
    about["best_sample"] = max(range(len(scored)), key=lambda place: scored[place].value or 0.0)
    value = round(value, DIGITS)
    detail = f"{passed} of {n} samples pass, pass@{k} is {value:g}"
    if short is None:
        return partly(value, detail, **about)
    reason = "wrong_answer" if passed else short.reason or "wrong_answer"
    return partly(value, f"{detail}; the first that does not: {short.detail}", reason, **about)


def _inner(task: SuiteTask) -> SuiteTask:
    scoring = {name: value for name, value in task.scoring.items() if name not in _OWN}
    scoring["type"] = task.scoring.get("inner_type") or INNER
    return dataclasses.replace(task, fields={**task.fields, "scoring": scoring})


def _scored(inner: SuiteTask, response: Response, tools: Tools) -> Score:
    from regrade.scorers.suite import assess

    if response.error:
        return no_verdict("provider_error", response.error)
    return assess.score(inner, [response], tools)


def _undefined(scored: list[Score], counted: str, about: dict[str, Any]) -> Score:
    """Too few samples: what the first that is missing says, else the task was given too few."""
    missing = next((found for found in scored if found.value is None), None)
    if missing is None:
        return no_verdict("grader_error", f"{counted}, expected at least so many", **about)
    return no_verdict(missing.reason, f"{counted} are too few: {missing.detail}", **about)


def _whole(value: Any) -> int | None:
    """A whole number from 1, also as a text; None for anything else."""
    number = as_count(value)
    return int(number) if number is not None and number >= 1 and number == int(number) else None
