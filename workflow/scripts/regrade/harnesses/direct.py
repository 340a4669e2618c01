"""One answer as it comes: for packs and suites, whose tasks say how that is used. Artifact tasks want a file."""

from regrade.errors import NotApplicable
from regrade.harnesses import Acted, Context

WRITES_IN_PLACE = False


def run(context: Context, acted: Acted) -> None:
    """Raises NotApplicable: a plain answer leaves no artifact."""
    raise NotApplicable("harness direct leaves no artifact, expected single-shot, code-only or tool-rich for this task")
