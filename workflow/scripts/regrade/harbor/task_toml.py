"""A bundle's task.toml: what Harbor knows of a task."""

from regrade.formats.selfbench import javascript
from regrade.formats.selfbench.definition import Definition
from regrade.harbor.toml_text import seconds, text, texts

HARBOR_SCHEMA_VERSION = "1.4"
COMPILER_REVISION = 23
AGENT_PATCH = "/opt/selfbench/agent.patch"
_KEYWORDS = ["selfbench", "pull-request", "repository"]
_MODEL_HOSTS = ["api.openai.com", "auth.openai.com", "chatgpt.com", "ab.chatgpt.com"]
_COLLECT_SECONDS = 300
_BUILD_SECONDS = 600
_COLLECT = (
    "cd /app && export GIT_DIR=/opt/selfbench/base.git GIT_WORK_TREE=/app"
    " && git add -A && git -c core.quotepath=off diff --cached --binary --no-color --no-ext-diff --no-textconv HEAD"
    f" > {AGENT_PATCH}"
)
"""Against a copy of the base that the agent cannot write, so that nothing it did to its own repository counts."""


def task_toml(definition: Definition) -> str:
    """The whole file, its tables and keys in the format's order."""
    tables = [_head(definition), _task(definition), _metadata(definition), _agent(definition)]
    tables += [_verifier(definition), _collect(definition)]
    tables += [_environment(name, definition) for name in ("environment", "verifier.environment")]
    return "\n".join("".join(f"{line}\n" for line in table) for table in tables)


def _head(_definition: Definition) -> list[str]:
    return [f"schema_version = {text(HARBOR_SCHEMA_VERSION)}", f"artifacts = {texts([AGENT_PATCH])}"]


def _task(definition: Definition) -> list[str]:
    about = f"Make the change that pull request {definition.source_pr} of {definition.repo} made"
    return [
        "[task]",
        f"name = {text(f'selfbench/{definition.task_id}')}",
        'version = "1.0.0"',
        f"description = {text(about)}",
        f"keywords = {texts([*_KEYWORDS, definition.difficulty])}",
    ]


def _metadata(definition: Definition) -> list[str]:
    return [
        "[metadata]",
        f"selfbench_task_id = {text(definition.task_id)}",
        f"difficulty = {text(definition.difficulty)}",
        f"repo = {text(definition.repo)}",
        f"base_commit = {text(definition.base_commit)}",
        f"workdir = {text(definition.workdir)}",
        f"source_pr = {definition.source_pr}",
        f"compiler_revision = {COMPILER_REVISION}",
    ]


def _agent(definition: Definition) -> list[str]:
    return [
        "[agent]",
        f"timeout_sec = {seconds(definition.timeouts.agent_seconds)}",
        'user = "agent"',
        'network_mode = "allowlist"',
        f"allowed_hosts = {texts(_MODEL_HOSTS)}",
    ]


def _verifier(definition: Definition) -> list[str]:
    times = definition.timeouts
    return [
        "[verifier]",
        f"timeout_sec = {seconds(times.setup_seconds + times.tests_seconds)}",
        'user = "root"',
        'environment_mode = "separate"',
        'network_mode = "public"',
    ]


def _collect(definition: Definition) -> list[str]:
    return [
        "[[verifier.collect]]",
        'service = "main"',
        'user = "root"',
        f"timeout_sec = {seconds(min(definition.timeouts.tests_seconds, _COLLECT_SECONDS))}",
        f"command = {text(_COLLECT)}",
    ]


def _environment(name: str, definition: Definition) -> list[str]:
    resources = definition.resources
    return [
        f"[{name}]",
        'network_mode = "public"',
        f"build_timeout_sec = {seconds(definition.timeouts.setup_seconds + _BUILD_SECONDS)}",
        f"cpus = {javascript.number(resources.cpus)}",
        f"memory_mb = {resources.memory_mb}",
        f"storage_mb = {resources.storage_mb}",
    ]
