"""Coupling: names that hidden tests assert although only the solution says them, so that nobody can guess them.

Nothing here asks a model. A review, by a person or a model, may follow; `resolve` says what it decides.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from regrade.errors import RegradeError
from regrade.formats.selfbench.candidates import Candidate, Names, added_lines, candidates
from regrade.formats.selfbench.load import SelfbenchTask

_GOLD_ONLY = "gold_only"


@dataclass(frozen=True)
class Artifact:
    """A name of the hidden tests that the solution brings in, and who else says it."""

    candidate: Candidate
    in_prompt: bool
    in_base: bool

    @property
    def blocks(self) -> bool:
        """Whether neither the prompt nor the repository says it."""
        return not (self.in_prompt or self.in_base)

    @property
    def report(self) -> dict[str, Any]:
        """The artifact as evidence holds it."""
        return {
            "artifact": self.candidate.artifact,
            "category": self.candidate.category,
            "testLocations": list(self.candidate.locations),
            "introducedByGold": True,
            "presentInPrompt": self.in_prompt,
            "presentInBase": self.in_base,
        }


@dataclass(frozen=True)
class Evidence:
    """The names that both the hidden tests and the solution add."""

    artifacts: tuple[Artifact, ...]

    @property
    def blockers(self) -> list[str]:
        """A line for each name that nothing but the solution says."""
        return [_blocker(artifact.candidate) for artifact in self.artifacts if artifact.blocks]

    @property
    def report(self) -> dict[str, Any]:
        """The evidence as JSON."""
        artifacts = [artifact.report for artifact in self.artifacts]
        return {"schemaVersion": 1, "artifacts": artifacts, "blockers": self.blockers}


def _blocker(candidate: Candidate) -> str:
    where = ", ".join(candidate.locations)
    return f'held-out tests assert gold-only {candidate.category} "{candidate.artifact}" at {where}'


def gather(task: SelfbenchTask, base_holds: Callable[[str], bool]) -> Evidence:
    """The evidence about a task; `base_holds` says whether the base commit's files have a name."""
    gold = Names("\n".join(line.text for line in added_lines(task.gold_patch)))
    prompt = Names(task.definition.prompt)
    shared = [candidate for candidate in candidates(task.test_patch) if candidate.artifact in gold]
    return Evidence(tuple(Artifact(found, found.artifact in prompt, base_holds(found.artifact)) for found in shared))


def resolve(evidence: Evidence, review: dict[str, Any]) -> dict[str, Any]:
    """What a review decides: {"verdict", "reason", "missingArtifacts", "goldOnlyArtifacts"}.

    A blocking name that the review passes over, and one that it calls `gold_only`, make a task coupled whatever the
    review's own verdict is. Raises RegradeError for a review of another form.
    """
    for fault in _faults(review):
        raise RegradeError(f"coupling review: {fault}")
    said = {finding["artifact"]: finding["disposition"] for finding in review["findings"]}
    blocking = [artifact.candidate.artifact for artifact in evidence.artifacts if artifact.blocks]
    missing = [artifact for artifact in blocking if artifact not in said]
    gold_only = [artifact for artifact, disposition in said.items() if disposition == _GOLD_ONLY]
    verdict = "coupled" if missing or gold_only else review["verdict"]
    return {
        "verdict": verdict,
        "reason": review["reason"],
        "missingArtifacts": missing,
        "goldOnlyArtifacts": gold_only,
    }


def _faults(review: Any) -> Iterator[str]:
    if not isinstance(review, dict):
        yield "expected an object with verdict, reason and findings"
        return
    for name, kind in (("verdict", str), ("reason", str), ("findings", list)):
        if not isinstance(review.get(name), kind):
            yield f"{name}: is {review.get(name)!r:.100}, expected a {'list' if kind is list else 'text'}"
    for finding in review["findings"] if isinstance(review.get("findings"), list) else []:
        keys = ("artifact", "disposition")
        if not isinstance(finding, dict) or not all(isinstance(finding.get(key), str) for key in keys):
            yield f"findings: holds {finding!r:.100}, expected objects with artifact and disposition"
