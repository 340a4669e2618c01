"""The positive gate: a grader accepts its own reference, fully, and twice alike."""

from regrade.gates import Finding
from regrade.gates.bench import Bench
from regrade.graders import Conditions, Verdict

SLOW_S = 60.0
_YEAR_S = 365.25 * 86400

ANOTHER_DAY = Conditions(hash_seed="20011", timezone="RGT-13:45", clock_shift_s=3.4 * _YEAR_S)
"""Another hash seed, another time zone, years later."""


def check(bench: Bench) -> Finding:
    """PASS, FAIL (rejected, not the full score, or another verdict the second time) or ERROR."""
    reference = bench.task.reference.read_bytes()
    first = bench.grade(reference)
    again = bench.grade(reference, ANOTHER_DAY) if first.status != "error" else first
    return _finding(bench.task.id, first, again)


def _finding(identifier: str, first: Verdict, again: Verdict) -> Finding:
    slowest = max(first.wall_s, again.wall_s)
    warnings = (f"took {slowest:.0f} s, expected at most {SLOW_S:.0f} s",) if slowest > SLOW_S else ()
    for verdict in (first, again):
        if verdict.status == "error":
            return Finding(identifier, "ERROR", verdict.message, is_bad=True, warnings=warnings)
    fault = _fault(first, again)
    detail = f"{fault}: {first.detail}" if fault else str(first.detail)
    return Finding(identifier, "FAIL" if fault else "PASS", detail, first.score, is_bad=bool(fault), warnings=warnings)


def _fault(first: Verdict, again: Verdict) -> str:
    if not first.passed:
        return "the reference was rejected"
    if first.score != 1.0:
        return f"the reference got score {first.score:g}, expected 1.0"
    differing = [name for name in ("passed", "score", "detail") if getattr(first, name) != getattr(again, name)]
    if differing:
        other = f"passed={again.passed}, score {again.score:g}, {again.detail!r:.200}"
        return f"{', '.join(differing)} differed with another hash seed, clock and time zone ({other})"
    return ""
