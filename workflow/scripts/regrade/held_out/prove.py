"""Stage `prove`: whether a SelfBench task may be used: audit, nop and reference solution, coupling, in this order.

    python -m regrade.held_out.prove SPEC CONFIG      both JSON, as the rule hands them over

SPEC (plan.selfbench.prove_spec): id, task (its folder), repository, folder (of its prepared files), errors, digest,
attempt. Writes gates.json with all that was found, and gate.json with no more than whether trials may be made.
Doing nothing must fail the fail-to-pass tests and pass the others; the reference solution must pass all, the
fail-to-pass tests twice.
"""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regrade import files, specification
from regrade.config import Config
from regrade.errors import RegradeError, ending_in_one_line
from regrade.formats import selfbench
from regrade.formats.selfbench import audit, coupling, diffs, redaction
from regrade.formats.selfbench.load import SelfbenchTask
from regrade.formats.selfbench.repository import opened
from regrade.held_out.grading import Graded, grade
from regrade.held_out.prepared import Prepared

GATE_FAILED = "gate_failed"
_ORACLE = ("patch_applied", "fail_to_pass", "pass_to_pass", "deterministic", "setup_completed")


@dataclass(frozen=True)
class Proof:
    """Whether a task may be used, and what was found. `reason` is a word of statuses.TABLE, empty if accepted."""

    reason: str
    message: str
    found: dict[str, Any]

    @property
    def accepted(self) -> bool:
        return not self.reason


def main(spec_text: str, config_text: str) -> None:
    """Run the stage for one specification under one configuration."""
    spec, config = specification.read(spec_text), Config(**json.loads(config_text))
    prepared = Prepared(Path(spec["folder"]))
    inputs = files.read_json(prepared.folder / "inputs.json")
    if inputs["status"] == "ok":
        proof = _proved(spec, prepared, config.sandbox)
    else:
        proof = Proof(inputs["reason"], inputs["message"], {})
    content = {"schema_version": 1, "task": spec["id"], "accepted": proof.accepted}
    content |= {"reason": proof.reason or None, "message": proof.message or None}
    files.write_json(prepared.gates, {**content, **proof.found, "digest": spec["digest"]})
    files.write_json(prepared.gate, content)


def _proved(spec: dict[str, Any], prepared: Prepared, mode: str) -> Proof:
    """The proof. What may go away by itself is noted, so that it is tried again."""
    try:
        return proof_of(selfbench.load(Path(spec["task"])), Path(spec["repository"]), prepared, mode)
    except (RegradeError, OSError) as error:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        row = {"stage": "prove", "digest": spec["digest"], "attempt": spec["attempt"], "at": at}
        files.append_jsonl(Path(spec["errors"]), {**row, "reason": "sandbox_error", "message": str(error)})
        return Proof("sandbox_error", f"the gates could not be tried: {error}", {})


def proof_of(task: SelfbenchTask, repo: Path, prepared: Prepared, mode: str) -> Proof:
    """Hold a task against its gates. Raises SandboxError or OSError where they cannot be tried."""
    audited = audit.audit(task)
    found: dict[str, Any] = {
        "audit": {"accepted": audited.accepted, "blockers": list(audited.blockers), "metrics": audited.metrics}
    }
    if not audited.accepted:
        return Proof(GATE_FAILED, audited.reason, found)
    nop = grade(task, b"", prepared, mode, reported=False)
    oracle, reports = _oracle(task, prepared, mode)
    found |= {"nop": value_of(nop, nop_passes(nop)), "oracle": value_of(oracle, oracle_passes(oracle))}
    found |= {"reports": reports, "least": oracle.counts if reports else {}}
    if faults := [*_nop_faults(nop), *_oracle_faults(oracle)]:
        flags = f"nop={str(nop_passes(nop)).lower()}, oracle={str(oracle_passes(oracle)).lower()}"
        return Proof(GATE_FAILED, f"gates failed: {flags}: {'; '.join(faults)}", found)
    with opened(repo, task.definition.base_commit) as base:
        evidence = coupling.gather(task, base.holds)
    found["coupling"] = evidence.report
    if evidence.blockers:
        return Proof(GATE_FAILED, "; ".join(evidence.blockers), found)
    return Proof("", "", found)


def _oracle(task: SelfbenchTask, prepared: Prepared, mode: str) -> tuple[Graded, bool]:
    """The reference solution, graded; and whether its runner reports to us, so that one that does not has a reason."""
    level = diffs.strip_level(task.gold_patch)
    graded = grade(task, task.gold_patch, prepared, mode, level=level)
    if oracle_passes(graded):
        return graded, True
    return grade(task, task.gold_patch, prepared, mode, level=level, reported=False), False


def nop_passes(graded: Graded) -> bool:
    """Whether doing nothing fails as it should."""
    found = graded.rewards
    return found["fail_to_pass"] == 0 and found["pass_to_pass"] >= 1 and found["setup_completed"] >= 1


def oracle_passes(graded: Graded) -> bool:
    """Whether the reference solution passes."""
    return all(graded.rewards[name] >= 1 for name in _ORACLE)


def value_of(graded: Graded, passed: bool) -> dict[str, Any]:
    """What is kept of a gate; nothing that differs from one run to the next."""
    return {"passed": passed, **graded.rewards, "network": graded.network, "detail": graded.detail}


def _nop_faults(graded: Graded) -> list[str]:
    """Why doing nothing does not fail as it should."""
    found, faults = graded.rewards, []
    if not found["setup_completed"] or not found["patch_applied"]:
        return [f"nop: {graded.detail}"]
    if found["fail_to_pass"]:
        faults.append("nop: the fail-to-pass tests pass without any work")
    if not found["pass_to_pass"]:
        faults.append(f"nop: the pass-to-pass tests fail without any work: {_last(graded)}")
    return faults


def _oracle_faults(graded: Graded) -> list[str]:
    found = graded.rewards
    if oracle_passes(graded):
        return []
    if not found["patch_applied"]:
        return [f"oracle: {graded.detail}"]
    if found["fail_to_pass"] and not found["deterministic"]:
        return [f"oracle: flaky: the fail-to-pass tests passed once and then did not: {_last(graded)}"]
    kind = "looks like the network, which tests do not have" if graded.network else "the reference solution fails"
    return [f"oracle: {kind}: {graded.detail}: {_last(graded)}"]


def _last(graded: Graded) -> str:
    words = " ".join(graded.log.decode(errors="replace").split())
    return redaction.redact(words)[-300:]


if __name__ == "__main__":
    with ending_in_one_line("the proof"):
        main(*sys.argv[1:])
