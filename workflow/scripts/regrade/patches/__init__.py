"""Patches: what a model wrote as one, and what a trial changed."""

from regrade.errors import RegradeError

NOT_CLEAN = "unified diff could not be applied cleanly"


class RefusedError(RegradeError):
    """Why a patch is not applied; the workspace is as it was."""
