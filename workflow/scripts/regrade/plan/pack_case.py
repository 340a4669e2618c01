"""A pack's case as a task, and which arms it makes sense under."""

from dataclasses import dataclass
from typing import Any

from regrade.config import ASKS_NOBODY
from regrade.formats import benchpack
from regrade.models.adapters import ADAPTERS


@dataclass(frozen=True, eq=False)
class PackCase:
    """A case with the pack that it belongs to: the source of a benchpack task."""

    pack: benchpack.Benchpack
    case: benchpack.Case

    @property
    def is_repo_task(self) -> bool:
        """Whether the answer changes a repository."""
        return self.case.kind == "repo-task"

    @property
    def verifies(self) -> bool:
        """Whether a verify script decides."""
        return bool(self.case.scoring) and self.case.scoring["mode"] == "verify-script"  # type: ignore[index]

    def harness(self, arm: dict[str, Any]) -> str:
        """How the case is answered: as it says itself, unless the arm is one that asks nobody."""
        if arm["harness"] in ASKS_NOBODY:
            return str(arm["harness"])
        if not self.is_repo_task:
            return "direct"
        return str((self.case.harness or {"id": "fenced-patch"})["id"])

    def misfit(self, name: str, arm: dict[str, Any], model: dict[str, Any] | None) -> str:
        """Why the case makes no sense under the arm of that name and its model, or the empty text."""
        if arm["harness"] == "oracle":
            missing = self.pack.oracle_of(self.case) is None
            return f"the pack has no oracle/{self.case.id}.md or .diff" if missing else ""
        if arm["harness"] == "nop":
            return ""
        if model is None:
            return f"arm {name} has no model, and a pack's case asks one"
        return _unmet(self.pack.requires, model)


def _unmet(requires: dict[str, Any], model: dict[str, Any]) -> str:
    """The first requirement of a pack that a model is known not to meet."""
    if model["adapter"] not in ADAPTERS:
        return f"the model's adapter is {model['adapter']}, a pack's case is measured by {' or '.join(ADAPTERS)}"
    context = model.get("runtime", {}).get("context_tokens") or model.get("context_tokens")
    wanted = requires.get("min_context")
    if wanted and context and context < wanted:
        return f"the pack requires a context of {wanted} tokens, the model has {context}"
    streams = model.get("stream", True) and model["adapter"] != "ollama-generate"
    if requires.get("streaming") and not streams:
        return "the pack requires streaming, and the model's entry does not stream"
    family = requires.get("model_family")
    if family and model.get("family", family).lower() != family.lower():
        return f"the pack requires a model of family {family!r}, the entry says {model['family']!r}"
    return ""
