"""The negative gate: a grader rejects wrong artifacts, and for the right reason."""

import re
from collections.abc import Iterator

from regrade.errors import RegradeError
from regrade.gates import Finding, mutations
from regrade.gates.bench import Bench
from regrade.graders.cases import FILE, Case, own_cases

STATUSES = ("PASS", "MISS", "WEAK_MISS", "WRONG_REASON", "EXPECTED_MISS", "ERROR")

_ISSUE = re.compile(r"https?://\S+|#\d+|\b[A-Z][A-Z0-9]+-\d+\b|\b[Ii]ssues?\b\D{0,10}\d+")


def check(bench: Bench, with_nan: bool = False) -> Iterator[Finding]:
    """A finding for each case of a task: its own cases, or the six default ones if it has none.

    `with_nan` adds one more default case, every number as NaN. A file of cases that cannot be used is one ERROR.
    """
    try:
        reference = mutations.read_text(bench.task.reference)
        cases = own_cases(bench.task.grader.parent, reference, bench.mode)
    except (RegradeError, ValueError) as error:
        yield Finding(bench.task.id, "ERROR", str(error), case=FILE, is_bad=True)
        return
    if cases == []:
        detail = "NEGATIVE_CASES is empty, expected at least one case: a grader that nothing was tried on holds nothing"
        yield Finding(bench.task.id, "ERROR", detail, case=FILE, is_bad=True)
        return
    if cases is None:
        cases = mutations.default_cases(reference)
    if with_nan and all(case.name != mutations.NAN for case in cases):
        cases = cases + mutations.nan_case(reference)
    names: set[str] = set()
    for case in cases:
        fault = _fault(case, reference, names)
        names.add(case.name)
        yield _finding(bench.task.id, case, "ERROR", fault) if fault else _try(bench, case)


def _fault(case: Case, reference: str, names: set[str]) -> str:
    """Why a case proves nothing, whatever the grader says."""
    if case.name in names:
        return f"the name {case.name!r} is there twice, expected each name once"
    if case.text is None:
        return f"the mutation failed: {case.fault}"
    if case.text == reference:
        return "no-op: the mutation changes nothing"
    if not case.currently_caught and not _ISSUE.search(case.notes):
        return f"currently_caught=False with notes {case.notes!r:.100}, expected a link or number of the issue there"
    return ""


def _try(bench: Bench, case: Case) -> Finding:
    verdict = bench.grade((case.text or "").encode("utf-8", "surrogatepass"))
    detail = verdict.detail or ""
    if verdict.status == "error":
        return _finding(bench.task.id, case, "ERROR", verdict.message)
    if not verdict.passed:
        if case.expected_substring.lower() in detail.lower():
            return _finding(bench.task.id, case, "PASS", detail)
        return _finding(bench.task.id, case, "WRONG_REASON", f"expected {case.expected_substring!r} in: {detail}")
    if not case.currently_caught:
        return _finding(bench.task.id, case, "EXPECTED_MISS", f"accepted; known: {case.notes}")
    return _finding(bench.task.id, case, "MISS" if case.own else "WEAK_MISS", f"accepted: {detail}")


def _finding(identifier: str, case: Case, status: str, detail: str) -> Finding:
    is_bad = status in ("MISS", "ERROR") or (status == "WRONG_REASON" and case.own)
    return Finding(identifier, status, detail, case=case.name, is_bad=is_bad)
