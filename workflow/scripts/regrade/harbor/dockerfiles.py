"""The two images of a bundle: one that the agent works in, one that grades what it left.

Commands of a task's author stand as JSON lists in one line: whatever is in them, a Dockerfile stays valid.
"""

import json

from regrade.formats.selfbench.definition import Definition
from regrade.harbor import toolchains

IMAGE = "ubuntu:24.04"
PACKAGES = (
    *("build-essential", "ca-certificates", "curl", "git", "libssl-dev", "pkg-config"),
    *("procps", "python3", "unzip", "xz-utils", "zstd"),
)
_AS_SOMEBODY = "git -c user.name=selfbench -c user.email=selfbench@localhost -c commit.gpgsign=false"
_BASE = [
    f"FROM {IMAGE}",
    "",
    "ENV DEBIAN_FRONTEND=noninteractive \\",
    "    LANG=C.UTF-8 \\",
    "    LC_ALL=C.UTF-8 \\",
    "    CI=true",
    'SHELL ["/bin/bash", "-o", "pipefail", "-c"]',
    "",
    "RUN apt-get update \\",
    f"    && apt-get install --yes --no-install-recommends {' '.join(PACKAGES)} \\",
    "    && rm -rf /var/lib/apt/lists/*",
]
_REPOSITORY = [
    "# The snapshot of the base commit: one commit, no history, no remote.",
    "COPY repo.tar.gz /tmp/repo.tar.gz",
    "RUN mkdir /app \\",
    "    && tar --extract --gzip --file /tmp/repo.tar.gz --directory /app --no-same-owner \\",
    "    && rm /tmp/repo.tar.gz \\",
    "    && cd /app \\",
    "    && git init --quiet --initial-branch=main \\",
    "    && git add --all --force \\",
    f"    && {_AS_SOMEBODY} commit --quiet --allow-empty --no-verify --message base",
]
_RESET = "RUN cd /app && git reset --quiet --hard HEAD && git clean --quiet --force -d"
_UV_CACHE = ["ENV UV_CACHE_DIR=/opt/uv-cache \\", "    UV_NO_BUILD_ISOLATION=1"]
_BUILD_BACKENDS = (
    "find /app -type d -name .venv -prune -print0 | while IFS= read -r -d '' place; do "
    'if [ -x "$place/bin/python" ]; then uv pip install --quiet --python "$place/bin/python" setuptools wheel; fi; done'
)


def agent(definition: Definition) -> str:
    """The Dockerfile of the agent's image."""
    return _text(
        *_common("agent", definition),
        "",
        "# What the agent did is collected against this copy, whatever it does to its own.",
        "RUN mkdir --parents /opt/selfbench \\",
        "    && cp --archive /app/.git /opt/selfbench/base.git \\",
        "    && chown --recursive root:root /opt/selfbench \\",
        "    && chmod 0700 /opt/selfbench/base.git \\",
        "    && mkdir --parents /opt/uv-cache \\",
        "    && chown --recursive agent:agent /app /opt/uv-cache",
        *_UV_CACHE,
        "USER agent",
        "WORKDIR /app",
    )


def verifier(definition: Definition, dependencies: int | None) -> str:
    """The Dockerfile of the verifier's image; `dependencies` is how git applies dependency-setup.patch (-p), if any."""
    return _text(
        *_common("verifier", definition),
        *([] if dependencies is None else _dependencies(definition, dependencies)),
        "",
        "RUN mkdir --parents /opt/selfbench /opt/uv-cache \\",
        "    && chmod 0700 /opt/selfbench \\",
        "    && chown --recursive verifier:verifier /app",
        *_UV_CACHE,
        "COPY test.patch test.sh /tests/",
        "RUN chmod 0700 /tests /tests/test.sh && chmod 0600 /tests/test.patch",
        "WORKDIR /app",
    )


def _common(user: str, definition: Definition) -> list[str]:
    """What both images begin with: system, toolchains, a user, the repository and its set-up."""
    return [
        *_BASE,
        "",
        *toolchains.layers(definition.toolchains),
        "",
        f"RUN useradd --create-home --shell /bin/bash {user}",
        "",
        *_REPOSITORY,
        "",
        *_setup(definition),
        _RESET,
    ]


def _setup(definition: Definition) -> list[str]:
    """The author's set-up, in its folder. Build back ends come before it, for environments built without isolation."""
    place = f"/app/{definition.workdir}"
    lines = ["ENV UV_CACHE_DIR=/opt/uv-cache", _run("env", "-C", place, "/bin/bash", "-lc", definition.setup_command)]
    if "python" in definition.toolchains:
        lines.append(_run("/bin/bash", "-o", "pipefail", "-c", _BUILD_BACKENDS))
    if folders := toolchains.shared(definition.toolchains):
        lines.append(f"RUN mkdir --parents {' '.join(folders)} && chmod --recursive a+rwX {' '.join(folders)}")
    return lines


def _dependencies(definition: Definition, level: int) -> list[str]:
    """Set up once more with the dependencies that the reference solution declares, then leave the tree as it was."""
    return [
        "",
        "# Dependencies that a solution may need; its other changes are not here.",
        "COPY dependency-setup.patch /tmp/dependency-setup.patch",
        f"RUN cd /app && git apply -p{level} --binary --whitespace=nowarn /tmp/dependency-setup.patch",
        *_setup(definition),
        _RESET,
        "RUN rm /tmp/dependency-setup.patch",
    ]


def _run(*words: str) -> str:
    return f"RUN {json.dumps(list(words))}"


def _text(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)
