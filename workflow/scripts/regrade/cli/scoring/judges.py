"""The judges that scoring tables ask for; the models file is read when the first one does."""

from pathlib import Path

from regrade import yaml_file
from regrade.errors import FaultsError, RegradeError
from regrade.judge import Judge
from regrade.models import entries
from regrade.models.types import ModelConfig
from regrade.nearest import nearest
from regrade.store import Store


def judge_of(models: Path, name: str | None) -> Judge | None:
    """The judge of that name, None if that is nobody. Raises RegradeError for a model that is not to be had."""
    if name is None:
        return None
    known = yaml_file.load(models) or {}
    faults = entries.faults(known, str(models))
    if faults:
        raise FaultsError(faults)
    if name not in known:
        raise RegradeError(f"{models}: has no model {name!r}{nearest(str(name), known)}")
    return Judge(ModelConfig.from_config(name, known[name]), Store(None, "off"))
