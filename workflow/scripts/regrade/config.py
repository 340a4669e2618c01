"""The configuration: config/config.yaml and the models file, checked, with every default filled in."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from regrade import schemas, yaml_file
from regrade.errors import Fault, FaultsError
from regrade.models import entries
from regrade.nearest import nearest
from regrade.packs import run_metadata
from regrade.spending import faults_without_prices

CATEGORIES = (
    "data_processing",
    "algorithmic",
    "verification_heavy",
    "enumeration",
    "stateful_reasoning",
    "iterative_numerical",
    "data_engineering",
    "data_science",
    "ml_engineering",
)

LIMITS: dict[str, float] = {
    "grader_wall_s": 120,
    "grader_memory_mb": 4096,
    "artifact_mb": 100,
    "generator_cpu_s": 120,
    "generator_wall_s": 900,
    "tool_wall_s": 60,
    "tool_cpu_s": 60,
    "tool_memory_mb": 2048,
    "workspace_mb": 1024,
    "trial_wall_s": 1800,
}

ASKED = ("adapter", "base_url", "runtime", "model", "stream_usage", "strip_thinking", "request")
"""Keys of a model's entry that make an answer what it is; all others only say how it is got."""

NEEDS_MODEL = {"direct", "single-shot", "code-only", "tool-rich"}
ASKS_NOBODY = ("oracle", "nop")
"""Harnesses whose arms give an answer without a model, whatever a task says about its own."""


@dataclass(frozen=True)
class Config:
    """Everything that a run is told. `arms` and `models` hold plain mappings by name, in the file's order."""

    arms: dict[str, dict[str, Any]]
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    dirs: dict[str, str] = field(default_factory=dict)
    repetitions: int = 1
    error_retries: int = 2
    cache: str = "on"
    sandbox: str = "bubblewrap"
    enforce_budgets: bool = False
    categories: tuple[str, ...] = CATEGORIES
    limits: dict[str, float] = field(default_factory=lambda: dict(LIMITS))
    judge: str | None = None
    verifier_env: tuple[str, ...] = ()
    agent_env: tuple[str, ...] = ()
    agent_read: tuple[str, ...] = ()
    run_metadata: str | None = None
    host_label: str | None = None
    code_execution: str = "sandboxed"
    filter: dict[str, tuple[str, ...]] = field(default_factory=dict)
    budget_usd: float | None = None
    agent_loop_native_tools: bool = False
    trusted_datasets: tuple[str, ...] = ()
    selfbench_repositories: dict[str, str] = field(default_factory=dict)
    selfbench_setup_network: bool = True

    def to_value(self) -> dict[str, Any]:
        """The JSON value that `Config(**value)` reads back: how a job is told the configuration."""
        return asdict(self)

    def folder(self, name: str) -> Path:
        """One of `dirs`: artifact, benchpacks, suites, selfbench, sets or results."""
        return Path(self.dirs[name])

    def repetitions_of(self, arm: str, own: int | None = None) -> int:
        """Trials per task under an arm: its override, else the task's own number, else the configuration's."""
        return int(self.arms[arm].get("override", {}).get("repetitions", own or self.repetitions))

    def asked_model(self, arm: str) -> dict[str, Any]:
        """The part of an arm's model that an answer depends on, with the arm's overrides in its request."""
        name = self.arms[arm]["model"]
        override = {key: value for key, value in self.arms[arm].get("override", {}).items() if key != "repetitions"}
        asked = self.model_as_asked(name)
        return {**asked, "name": name, "request": {**asked["request"], **override}}

    def model_as_asked(self, name: str) -> dict[str, Any]:
        """The part of a model's entry that an answer depends on."""
        model = self.models[name]
        return {"request": {}, **{key: model[key] for key in ASKED if key in model}}


_AS_GIVEN = (
    *("repetitions", "error_retries", "sandbox", "enforce_budgets", "judge", "run_metadata", "host_label"),
    "agent_loop_native_tools",
)
_NAMES = ("verifier_env", "agent_env", "agent_read", "trusted_datasets")
DIRS = {
    "artifact": "problems/artifact",
    "benchpacks": "benchpacks",
    "suites": "problems/suites",
    "selfbench": "problems/selfbench",
    "sets": "sets",
    "results": "results",
}


def load(value: Mapping[str, Any], files: Iterable[Path] = ()) -> Config:
    """Check a configuration as Snakemake merged it, and the models file it names.

    `files` are the files that it came from: they are read once more, strictly, so that a key which stands
    twice is found. Raises FaultsError with every fault.
    """
    paths = list(files)
    for path in paths:
        yaml_file.load(path)
    source = str(paths[-1]) if paths else "config"
    faults = schemas.faults("config", value, source)
    if faults:
        raise FaultsError(faults)
    models_file = Path(value.get("models", "config/models.yaml"))
    models = _models(models_file) if models_file.exists() or "models" in value else {}
    faults = list(_arm_faults(value["arms"], models, source, models_file))
    suites = value.get("suites_dir")
    if suites is not None and not Path(suites).is_dir():
        faults.append(Fault(source, "suites_dir", f"{suites!r} is no folder, expected an existing one"))
    judge = value.get("judge")
    if "budget" in value:
        asked = [arm["model"] for arm in value["arms"].values() if arm.get("model") in models]
        asked += [judge] if judge in models else []
        faults += faults_without_prices(asked, models, str(models_file))
    if judge is not None and judge not in models:
        faults.append(
            Fault(source, "judge", f"is {judge!r}, expected a model of {models_file}{nearest(judge, models)}")
        )
    if faults:
        raise FaultsError(faults)
    if value.get("run_metadata"):
        run_metadata.load(Path(value["run_metadata"]))
    cache = value.get("cache", "on")
    given: dict[str, Any] = {key: value[key] for key in _AS_GIVEN if key in value}
    given |= {key: tuple(value[key]) for key in _NAMES if key in value}
    return Config(
        arms={name: dict(arm) for name, arm in value["arms"].items()},
        models=models,
        dirs={**DIRS, **value.get("dirs", {}), **({"suites": suites} if suites is not None else {})},
        cache={True: "on", False: "off"}.get(cache, cache),
        code_execution=value.get("code_execution", "sandboxed") or "off",
        filter={
            key: (said,) if isinstance(said, str) else tuple(said) for key, said in value.get("filter", {}).items()
        },
        budget_usd=value["budget"]["usd"] if "budget" in value else None,
        selfbench_repositories=dict(value.get("selfbench", {}).get("repositories", {})),
        selfbench_setup_network=value.get("selfbench", {}).get("setup_network", True),
        categories=tuple(value.get("categories", CATEGORIES)),
        limits={**LIMITS, **value.get("limits", {})},
        **given,
    )


def load_file(path: Path) -> Config:
    """Check one configuration file, as the commands for authors do."""
    return load(yaml_file.load(path) or {}, [path])


def _models(path: Path) -> dict[str, dict[str, Any]]:
    models = yaml_file.load(path) or {}
    faults = entries.faults(models, str(path))
    if faults:
        raise FaultsError(faults)
    return models


def _arm_faults(arms: Mapping[str, Any], models: Mapping[str, Any], source: str, models_file: Path) -> Iterator[Fault]:
    folded: dict[str, str] = {}
    for name, arm in arms.items():
        place = f"arms.{name}"
        model = arm.get("model")
        if name.lower() in folded:
            yield Fault(source, place, f"differs from {folded[name.lower()]!r} only by case, expected distinct names")
        folded[name.lower()] = name
        if (arm["harness"] == "external-agent") != ("command" in arm):
            wanted = "a command" if "command" not in arm else "harness external-agent beside a command"
            yield Fault(source, place, f"harness {arm['harness']}, expected {wanted}")
        if arm["harness"] in NEEDS_MODEL and model is None:
            yield Fault(source, place, f"has no model, expected one: harness {arm['harness']} asks a model")
        elif arm["harness"] not in NEEDS_MODEL and model is not None:
            yield Fault(source, f"{place}.model", f"is {model!r}, expected none: harness {arm['harness']} asks nobody")
        elif model is not None and model not in models:
            yield Fault(
                source, f"{place}.model", f"is {model!r}, expected a model of {models_file}{nearest(model, models)}"
            )
