"""The response store: what was paid for once is never asked again.

    results/cache/<first two characters of the request's digest>/<writer>.jsonl

Requests that begin with the same words share the two characters, so that a conversation's steps lie in one folder and a
look-up reads only that. Each process appends to files of its own, a whole line at a time; a line that a kill or a full
disk cut short is not believed. Of several entries for one thing the latest counts. A response of some length is
compressed; a short one stands as it is, since compressing would not make it smaller.
"""

import base64
import json
import resource
import shutil
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, cast, get_args

from regrade import digests
from regrade.errors import RegradeError, SandboxError
from regrade.files import to_json
from regrade.segments import Segment

Mode = Literal["on", "off", "refresh", "only"]
MODES: tuple[Mode, ...] = get_args(Mode)

_WORTH_COMPRESSING = 1000
_SCHEMA_VERSION = 2


ROOM_MB = 16
"""Free space below which nobody is asked, so that every answer that is paid for can be kept."""


class StoreError(RegradeError):
    """An answer could not be kept, or is missing where asking is forbidden."""


def request_digest(endpoint: str, body: dict[str, Any]) -> str:
    """The digest of a whole request: 64 hex characters, of which the first two name its group."""
    messages = body.get("messages") or body.get("input") or []
    opening = {"endpoint": endpoint, "model": body.get("model"), "messages": _opening(messages)}
    return digests.of_value(opening)[:2] + digests.of_value({"endpoint": endpoint, "body": body})[2:]


def _opening(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for place, message in enumerate(messages):
        if message.get("role") == "user":
            return messages[: place + 1]
    return messages


def require_room(place: Path) -> None:
    """Raises SandboxError where the disk is all but full."""
    free = shutil.disk_usage(place).free
    if free < ROOM_MB << 20:
        raise SandboxError(
            f"{place}: the disk is full: {free >> 20} MB free, expected at least {ROOM_MB} MB for an answer: "
            "nobody was asked; make room and start again"
        )


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
        self._segments: dict[str, Segment] = {}
        self._open: dict[str, Segment] = {}
        # All 256 groups where the system allows the usual 1,024 files: opening one again costs as much as asking.
        self._most_open = max(1, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)
        self._groups: dict[str, dict[str, tuple[float, Path, int]]] = {}
        self._lock = threading.Lock()

    def response(self, request: str, repetition: int) -> dict[str, Any] | None:
        """What `remember_response` was given for a request's digest, or None.

        Raises StoreError for a miss in mode `only`.
        """
        entry = self._find(request, f"{request} {repetition}")
        if entry is not None:
            return _response_in(entry)
        if self.mode == "only":
            raise StoreError(
                f"{self._folder}: no stored response for request {request}, repetition {repetition}, and `cache: only` "
                "forbids asking the model. Bring the cache that holds it, or set `cache: on` in config/config.yaml"
            )
        return None

    def remember_response(self, request: str, repetition: int, response: dict[str, Any], about: dict[str, Any]) -> None:
        """Keep a complete response (JSON). `about` says for people what it was."""
        if not self._writes:
            return
        text = to_json(response)
        if len(text) >= _WORTH_COMPRESSING:
            packed = base64.b64encode(zlib.compress(text.encode())).decode()
            self._append(request, f"{request} {repetition}", "response", about=to_json(about), packed=f'"{packed}"')
        else:
            self._append(request, f"{request} {repetition}", "response", about=to_json(about), response=text)

    def observation(self, request: str, repetition: int, index: int, cause: Any) -> Any | None:
        """The remembered result of a tool call of that request's response, or None.

        `index` counts the response's calls; `cause` is a JSON value that holds all that the result depends on.
        """
        entry = self._find(request, _observation_key(request, repetition, index, cause))
        return None if entry is None else entry["observation"]

    def remember_observation(self, request: str, repetition: int, index: int, cause: Any, observation: Any) -> None:
        """Keep a tool call's result (JSON), so that a loop that was killed asks the same again."""
        if self._writes:
            key = _observation_key(request, repetition, index, cause)
            self._append(request, key, "observation", observation=to_json(observation))

    def _find(self, request: str, key: str) -> dict[str, Any] | None:
        if not self._reads:
            return None
        with self._lock:
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

    def _append(self, request: str, key: str, kind: str, **fields: str) -> None:
        """Write one line; `fields` are JSON already."""
        with self._lock:
            self._append_line(request[:2], key, kind, fields)

    def _append_line(self, group: str, key: str, kind: str, fields: dict[str, str]) -> None:
        at, segment = time.time(), self._segment(group)
        start = {"schema_version": str(_SCHEMA_VERSION), "at": repr(at), "key": f'"{key}"', "kind": f'"{kind}"'}
        line = ",".join(f'"{name}":{text}' for name, text in (start | fields).items())
        path = segment.path
        try:
            offset = segment.append(f"{{{line}}}".encode())
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"{path}: a response could not be kept: {reason}. Make room and start again") from error
        if group in self._groups:
            self._groups[group][key] = (at, segment.path, offset)

    def _segment(self, group: str) -> Segment:
        """This process's file in a group. The one that was not used for longest is closed, so that few are open."""
        if group not in self._segments:
            self._segments[group] = Segment((self._folder or Path()) / group)
        self._open.pop(group, None)
        self._open[group] = self._segments[group]
        if len(self._open) > self._most_open:
            self._open.pop(next(iter(self._open))).close()
        return self._segments[group]


def _response_in(entry: dict[str, Any]) -> dict[str, Any]:
    if "packed" in entry:
        return cast(dict[str, Any], json.loads(zlib.decompress(base64.b64decode(entry["packed"]))))
    if entry.get("schema_version") == 1:
        # The first form: compressed was only the raw reply, beside what it says.
        return {**entry["response"], "raw": json.loads(zlib.decompress(base64.b64decode(entry["raw"])))}
    return cast(dict[str, Any], entry["response"])


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
