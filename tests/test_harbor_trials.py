"""What a Harbor trial's result says: rewards, broken machinery, gates, one line of a matrix."""

from typing import Any

import pytest

from harbor_support import vectors
from regrade.formats.selfbench.dependencies import setup_patch
from regrade.harbor.trials import HarborRun, gates, infrastructure_error, summarise

COUNTS = {"dependencyManifests": 17, "infrastructureErrors": 7, "matrixSummary": 5, "gates": 27}


@pytest.mark.parametrize(("group", "expected"), COUNTS.items())
def test_all_vectors_are_here(group: str, expected: int) -> None:
    """No case got lost."""
    assert expected == len(vectors(group))


@pytest.mark.parametrize("case", vectors("dependencyManifests"), ids=lambda case: case["id"])
def test_known_dependency_manifests(case: dict[str, Any]) -> None:
    """Every vector holds."""
    found = setup_patch(case["goldPatch"].encode())
    assert case["dependencySetupPatch"] == (found and found.decode())


def test_end_of_a_dependency_patch() -> None:
    """An empty line of context at the end is part of a hunk; binary data ends with an empty line."""
    head = "diff --git a/go.mod b/go.mod\n--- a/go.mod\n+++ b/go.mod\n@@ -1,2 +1,2 @@\n-a\n+b\n \n"
    assert head.encode() == setup_patch(head.encode())
    binary = "diff --git a/bun.lockb b/bun.lockb\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZQ\n\n"
    assert binary.encode() == setup_patch(binary.encode())


@pytest.mark.parametrize("case", vectors("infrastructureErrors"), ids=lambda case: str(case["error"])[:30])
def test_known_infrastructure_errors(case: dict[str, Any]) -> None:
    """Every vector holds."""
    assert case["error"] == infrastructure_error(case["trial"])


@pytest.mark.parametrize(
    ("kind", "message", "expected"),
    [
        ("RuntimeError", "Docker daemon is not running. Start it and try again.", True),
        ("EnvironmentStartTimeoutError", "Environment start timed out after 600 seconds", True),
        ("SandboxBuildFailedError", "boom", True),
        ("OSError", "[Errno 28] No space left on device", True),
        ("AgentTimeoutError", "Agent execution timed out after 2400 seconds", False),
        ("VerifierTimeoutError", "Verifier execution timed out after 1800 seconds", False),
        ("RewardFileNotFoundError", "No reward file found", False),
        ("NonZeroAgentExitCodeError", "Command failed (exit 1): codex exec", False),
    ],
)
def test_infrastructure_and_work_apart(kind: str, message: str, expected: bool) -> None:
    """Machinery that broke is told from an agent or tests that did."""
    trial = {"exception_info": {"exception_type": kind, "exception_message": message}}
    assert (f"{kind}: {message}" if expected else None) == infrastructure_error(trial)


@pytest.mark.parametrize("case", vectors("matrixSummary"), ids=lambda case: case["id"])
def test_known_summaries(case: dict[str, Any]) -> None:
    """Every vector holds."""
    try:
        found = summarise(case["result"], "t", "gpt-5.6-sol", "j")
    except ValueError as error:
        found = {"error": str(error)}
    assert case["summary"] == found


STRICTER = {
    "nop-reward-missing",
    "oracle-reward-missing",
    "oracle-fail_to_pass_exit_code-missing",
    "oracle-fail_to_pass_repeat_exit_code-missing",
    "oracle-pass_to_pass_exit_code-missing",
}
"""Accepted by the public tool, which looks at some keys only; here every key must be there."""


def _run(given: dict[str, Any]) -> HarborRun:
    return HarborRun(given["exit"], "boom") if "exit" in given else HarborRun(trial=given["trial"])


@pytest.mark.parametrize("case", vectors("gates"), ids=lambda case: case["id"])
def test_known_gates(case: dict[str, Any]) -> None:
    """Every vector holds, but where a key is missing that the rule does not compare."""
    found = gates(_run(case["nop"]), _run(case["oracle"]))
    expected = {key: case[key] for key in ("status", "accepted", "nopPassed", "oraclePassed", "error")}
    if case["id"] in STRICTER:
        expected |= {"accepted": False, f"{case['id'].partition('-')[0]}Passed": False}
    shown = {"status": found.status, "accepted": found.accepted, "nopPassed": found.nop_passed}
    assert expected == {**shown, "oraclePassed": found.oracle_passed, "error": found.error}


@pytest.mark.parametrize("at", ["nop", "oracle"])
def test_no_gate_passes_with_an_exception(at: str) -> None:
    """An exception that is nobody's machinery fails the gate, whatever the rewards are."""
    case = next(case for case in vectors("gates") if case["id"] == "oracle-reward-flip")
    ended = {"exception_type": "AgentTimeoutError", "exception_message": "late"}
    case[at]["trial"]["exception_info"] = ended
    found = gates(_run(case["nop"]), _run(case["oracle"]))
    assert (False, at != "nop", at != "oracle") == (found.accepted, found.nop_passed, found.oracle_passed)
