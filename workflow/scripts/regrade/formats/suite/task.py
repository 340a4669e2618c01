"""A task of a suite as the rest of Regrade sees it."""

import math
from dataclasses import dataclass, field
from typing import Any

PASS_THRESHOLD = 0.8
MAX_STEPS = 8
"""Of an agent loop that says nothing else, as is the next."""

TEST_TIMEOUT_S = 60.0
_LABELS = ("execution_surface", "source_signal", "contamination_risk", "introduced")
_LABELS_OF_FILE = ("version", "release", "signal_snapshot", "signal_source")
OUTSIDE_HEADLINE = ("smoke", "diagnostic")
"""Tiers that are shown and kept out of headline figures."""


@dataclass(frozen=True, eq=False)
class SuiteTask:
    """One task; each is only equal to itself. `fields` is its mapping as written (JSON values).

    `file` is where it stands, `stem` that file's stem, `metadata` what the file says of all its tasks (version,
    release, signal_snapshot, signal_source).
    """

    id: str
    stem: str
    fields: dict[str, Any]
    file: str = ""
    line: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    fixture: str | None = None
    """The folder that `repo_fixture` was found to be."""

    images: tuple[str, ...] = ()
    """The files that `image_path` was found to name."""

    @property
    def category(self) -> str:
        return str(self.fields.get("category", ""))

    @property
    def prompt(self) -> str:
        return str(self.fields.get("prompt", ""))

    @property
    def scoring(self) -> dict[str, Any]:
        scoring: dict[str, Any] = self.fields["scoring"]
        return scoring

    @property
    def scoring_type(self) -> str:
        """The scoring's type; a table without one is scored by `contains`."""
        return str(self.scoring.get("type", "contains"))

    @property
    def is_dataset(self) -> bool:
        """Whether it stands for the rows of a data set."""
        return "dataset" in self.fields

    @property
    def is_loop(self) -> bool:
        """Whether it is worked on in turns, not answered at once."""
        return self.scoring_type == "agent_loop"

    @property
    def shows_images(self) -> bool:
        """Whether pictures belong to its prompt."""
        return bool(self.images or self.fields.get("image_url"))

    @property
    def tier(self) -> str:
        """The tier in lower case; the alias `tier` counts where benchmark_tier says nothing."""
        said = self.fields.get("benchmark_tier") or self.fields.get("tier") or "leaderboard"
        return str(said).strip().lower() or "leaderboard"

    @property
    def is_headline(self) -> bool:
        """Whether its trials count in headline figures."""
        risk = str(self.fields.get("contamination_risk") or "").strip().lower()
        return self.tier not in OUTSIDE_HEADLINE and risk != "high"

    @property
    def labels(self) -> dict[str, Any]:
        """What records show of the task beside its id, category, difficulty and tags; what it lacks is left out."""
        said = {name: self.metadata.get(name) for name in _LABELS_OF_FILE}
        said |= {name: self.fields.get(name) for name in _LABELS}
        about = {"type": self.scoring_type, "tier": self.tier, "headline": self.is_headline}
        return {**about, **{name: value for name, value in said.items() if value is not None}}

    @property
    def pass_threshold(self) -> float:
        """The score from which on a trial has passed: the task's own, else its scoring's, else 0.8; within 0 to 1."""
        for table in (self.fields, self.scoring):
            said = table.get("pass_threshold")
            try:
                if said is not None and not isinstance(said, bool) and math.isfinite(float(said)):
                    return min(1.0, max(0.0, float(said)))
            except (TypeError, ValueError, OverflowError):
                continue
        return PASS_THRESHOLD
