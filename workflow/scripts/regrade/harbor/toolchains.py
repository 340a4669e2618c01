"""What a declared toolchain adds to an image: lines of a Dockerfile, in a fixed order."""

from collections.abc import Iterable

_IMPLIED = {"python": "uv", "bun": "node"}
_FETCH = "curl --fail --silent --show-error --location --retry 3"
_LAYERS = {
    "uv": [f"RUN {_FETCH} https://astral.sh/uv/0.8.22/install.sh | env UV_UNMANAGED_INSTALL=/usr/local/bin sh"],
    "python": [
        "ENV UV_PYTHON_INSTALL_DIR=/opt/python",
        "RUN uv python install 3.11 3.12 3.13 \\",
        '    && ln -s "$(uv python find 3.12)" /usr/local/bin/python3 \\',
        "    && ln -s python3 /usr/local/bin/python",
    ],
    "node": [
        "ENV PLAYWRIGHT_BROWSERS_PATH=/opt/playwright",
        'RUN case "$(dpkg --print-architecture)" in arm64) cpu=arm64 ;; *) cpu=x64 ;; esac \\',
        f'    && {_FETCH} "https://nodejs.org/dist/v22.14.0/node-v22.14.0-linux-$cpu.tar.xz" \\',
        "    | tar --extract --xz --directory /usr/local --strip-components 1 --no-same-owner \\",
        "    && corepack enable \\",
        "    && mkdir --parents --mode 0777 /opt/playwright",
    ],
    "bun": ["RUN npm install --global bun@1.3.14"],
    "go": [
        "ENV GOPATH=/opt/go GOCACHE=/opt/go/cache GOFLAGS=-modcacherw",
        f'RUN {_FETCH} "https://go.dev/dl/go1.25.0.linux-$(dpkg --print-architecture).tar.gz" \\',
        "    | tar --extract --gzip --directory /usr/local \\",
        "    && ln -s /usr/local/go/bin/go /usr/local/go/bin/gofmt /usr/local/bin/",
    ],
    "rust": [
        "ENV RUSTUP_HOME=/opt/rust CARGO_HOME=/opt/cargo",
        f"RUN {_FETCH} https://sh.rustup.rs \\",
        "    | sh -s -- -y --no-modify-path --profile minimal --default-toolchain 1.90.0 \\",
        "    && ln -s /opt/cargo/bin/* /usr/local/bin/",
    ],
}

_SHARED = {"go": "/opt/go", "rust": "/opt/cargo"}
"""Where a set-up, which root runs, leaves what it fetched for the user that works without a network."""


def needed(declared: Iterable[str]) -> list[str]:
    """The toolchains to install, implied ones too, in the order of installation."""
    wanted = set(declared)
    wanted |= {_IMPLIED[name] for name in wanted if name in _IMPLIED}
    return [name for name in _LAYERS if name in wanted]


def layers(declared: Iterable[str]) -> list[str]:
    """The lines of a Dockerfile that install them."""
    return [line for name in needed(declared) for line in (f"# Toolchain: {name}", *_LAYERS[name])]


def shared(declared: Iterable[str]) -> list[str]:
    """The folders outside of the repository that a set-up fills and that tests need."""
    return [_SHARED[name] for name in needed(declared) if name in _SHARED]
