"""A row of a pack's run.jsonl, as readers of the format expect it, with Regrade's own record in it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regrade.formats.benchpack import Benchpack, Case

MEASURED = ("adapter", "endpoint", "model", "ok", "timing", "tokens", "resources")
OPTIONAL = ("backend", "error")


def row(
    pack: "Benchpack",
    case: "Case",
    repetitions: int,
    measured: dict[str, Any],
    grade: dict[str, Any],
    record: dict[str, Any],
    *,
    session: bool = False,
    verify: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """One repetition's row. `session`: a workspace was worked on; `verify`: what the verifier left, None without one.

    Keys that a row has no use for are missing, not null.
    """
    number = measured["repetition"]
    found = {
        "pack": {"id": pack.id, "version": pack.version},
        "case": case.id,
        **{name: measured[name] for name in MEASURED},
        "scoring": scoring(case, grade),
        "raw": measured["raw"],
    }
    if repetitions > 1:
        found["repetition"] = number
    if session:
        found |= _session(pack, case, number)
    if verify is not None:
        found |= _verify(case, number, verify)
    return {**found, **{name: measured[name] for name in OPTIONAL if name in measured}, "regrade": record}


def not_run(pack: "Benchpack", case: "Case", record: dict[str, Any]) -> dict[str, Any]:
    """The row of a trial that made no sense or was not allowed: nothing was measured."""
    return {"pack": {"id": pack.id, "version": pack.version}, "case": case.id, "ok": False, "regrade": record}


def scoring(case: "Case", grade: dict[str, Any]) -> dict[str, Any] | None:
    """The row's scoring: as the grade has it, or made of its verdict; None where nothing was scored."""
    if "scoring" in grade:
        value: dict[str, Any] | None = grade["scoring"]
        return value
    if not case.scoring or case.scoring["mode"] == "none" or grade["passed"] is None:
        return None
    return {"mode": case.scoring["mode"], "passed": grade["passed"]}


def _session(pack: "Benchpack", case: "Case", number: int) -> dict[str, Any]:
    """Where a trial worked and what it left, relative to the run directory."""
    place, fixture = f"{case.id}/rep-{number:03d}", case.repo_fixture(pack)
    return {
        "workspace": {
            "path": f"workspace/{place}",
            "source_fixture_id": fixture.id,
            "source_path": fixture.path,
        },
        "patch": {"path": f"patch/{place}.diff"},
        "task": {"stdout_path": f"task/{place}.stdout.log", "stderr_path": f"task/{place}.stderr.log"},
    }


def _verify(case: "Case", number: int, verify: dict[str, Any]) -> dict[str, Any]:
    """The verifier's files and its exit code, which alone decides; None is a timeout."""
    place, code = f"verify/{case.id}/rep-{number:03d}", verify["exit_code"]
    return {
        "verify": {
            "path": f"{place}.json",
            "stdout_path": f"{place}.stdout.log",
            "stderr_path": f"{place}.stderr.log",
        },
        "repo_task": {"status": "passed" if code == 0 else "failed", "verify_exit_code": code},
    }
