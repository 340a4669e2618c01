"""The response store: what was paid for once is never asked again.

    results/cache/<first two characters of the request's digest>/<writer>.jsonl

Requests that begin with the same words share the two characters, so that a conversation's steps lie in one folder and a
look-up reads only that. Each process appends to files of its own, a whole line at a time; a line that a kill or a full
disk cut short is not believed. Of several entries for one thing the latest counts.
"""

import base64
import json
import os
import socket
import time
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast, get_args

from regrade import digests
from regrade.errors import RegradeError
from regrade.files import to_json

Mode = Literal["on", "off", "refresh", "only"]
MODES: tuple[Mode, ...] = get_args(Mode)


class StoreError(RegradeError):
    """An answer could not be kept, or is missing where asking is forbidden."""


def request_digest(endpoint: str, body: dict[str, Any]) -> str:
    """The digest of a whole request: 64 hex characters, of which the first two name its group."""
    opening = {"endpoint": endpoint, "model": body.get("model"), "messages": _opening(body.get("messages") or [])}
    return digests.of_value(opening)[:2] + digests.of_value({"endpoint": endpoint, "body": body})[2:]


def _opening(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for place, message in enumerate(messages):
        if message.get("role") == "user":
            return messages[: place + 1]
    return messages


class Store:
    """Responses and the results of tool calls below one folder; without a folder nothing is kept.

    Modes: `on` looks up and keeps, `refresh` keeps without looking, `off` does neither, `only` looks up and
    forbids asking.
    """

    def __init__(self, folder: Path | None, mode: str = "on") -> None:
        if mode not in MODES:
            raise RegradeError(f"config/config.yaml: cache: {mode!r}, expected one of: {', '.join(MODES)}")
        self.mode = mode
        self._folder = folder
        self._reads = folder is not None and mode in ("on", "only")
        self._writes = folder is not None and mode in ("on", "refresh")
        self._writer = _new_writer()
        self._groups: dict[str, dict[str, tuple[float, Path, int]]] = {}

    def response(self, request: str, repetition: int) -> dict[str, Any] | None:
        """What `remember_response` was given for a request's digest, or None.

        Raises StoreError for a miss in mode `only`.
        """
        entry = self._find(request, f"{request} {repetition}")
        if entry is not None:
            raw = json.loads(zlib.decompress(base64.b64decode(entry["raw"])))
            return {**entry["response"], "raw": raw}
        if self.mode == "only":
            raise StoreError(
                f"{self._folder}: no stored response for request {request}, repetition {repetition}, and `cache: only` "
                "forbids asking the model. Bring the cache that holds it, or set `cache: on` in config/config.yaml"
            )
        return None

    def remember_response(self, request: str, repetition: int, response: dict[str, Any], about: dict[str, Any]) -> None:
        """Keep a complete response (JSON, its `raw` apart and compressed). `about` says for people what it was."""
        raw = base64.b64encode(zlib.compress(json.dumps(response["raw"]).encode())).decode()
        kept = {key: value for key, value in response.items() if key != "raw"}
        key = f"{request} {repetition}"
        self._append(request, {"key": key, "kind": "response", "about": about, "response": kept, "raw": raw})

    def observation(self, request: str, repetition: int, index: int, cause: Any) -> Any | None:
        """The remembered result of a tool call of that request's response, or None.

        `index` counts the response's calls; `cause` is a JSON value that holds all that the result depends on.
        """
        entry = self._find(request, _observation_key(request, repetition, index, cause))
        return None if entry is None else entry["observation"]

    def remember_observation(self, request: str, repetition: int, index: int, cause: Any, observation: Any) -> None:
        """Keep a tool call's result (JSON), so that a loop that was killed asks the same again."""
        key = _observation_key(request, repetition, index, cause)
        self._append(request, {"key": key, "kind": "observation", "observation": observation})

    def _find(self, request: str, key: str) -> dict[str, Any] | None:
        if not self._reads:
            return None
        found = self._group(request[:2]).get(key)
        if found is None:
            return None
        _, path, offset = found
        with path.open("rb") as stream:
            stream.seek(offset)
            return cast(dict[str, Any], json.loads(stream.readline()))

    def _group(self, name: str) -> dict[str, tuple[float, Path, int]]:
        """Where each key's latest entry stands; read once per process, which then knows what it wrote itself."""
        if name not in self._groups:
            index: dict[str, tuple[float, Path, int]] = {}
            for path in sorted(((self._folder or Path()) / name).glob("*.jsonl")):
                for offset, entry in _entries(path):
                    if entry["at"] >= index.get(entry["key"], (0.0,))[0]:
                        index[entry["key"]] = (entry["at"], path, offset)
            self._groups[name] = index
        return self._groups[name]

    def _append(self, request: str, entry: dict[str, Any]) -> None:
        if not self._writes or self._folder is None:
            return
        at = time.time()
        path = self._folder / request[:2] / f"{self._writer}.jsonl"
        line = to_json({"schema_version": 1, "at": at, **entry}).encode() + b"\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab", buffering=0) as stream:
                offset = stream.tell()
                if stream.write(line) != len(line):
                    raise OSError("the disk took only a part of the line")
        except OSError as error:
            # What was written of the line ends this file: the next entry goes to another.
            self._writer = _new_writer()
            reason = error.strerror or error
            raise StoreError(f"{path}: a response could not be kept: {reason}. Make room and start again") from error
        if request[:2] in self._groups:
            self._groups[request[:2]][entry["key"]] = (at, path, offset)


def _entries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    offset = 0
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n"):
                try:
                    entry = json.loads(line)
                    if isinstance(entry["key"], str) and isinstance(entry["at"], float):
                        yield offset, entry
                except (ValueError, TypeError, KeyError):
                    pass
            offset += len(line)


def _observation_key(request: str, repetition: int, index: int, cause: Any) -> str:
    return f"{request} {repetition} {index} {digests.of_value(cause)}"


def _new_writer() -> str:
    host = "".join(char for char in socket.gethostname() if char.isalnum() or char == "-")[:40]
    return f"{host}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
