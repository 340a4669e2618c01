"""The read-only system that a command sees: programs and libraries, this Python, and nothing of the user's."""

import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

_USR = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "include", "share")
_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = (
    "alternatives", "ca-certificates", "ca-certificates.conf", "fonts", "host.conf", "ld.so.cache", "ld.so.conf",
    "ld.so.conf.d", "localtime", "magic", "mime.types", "nsswitch.conf", "os-release", "pki/tls/certs",
    "pki/ca-trust/extracted", "protocols", "services", "ssl/certs", "ssl/openssl.cnf", "timezone",
)  # fmt: skip
_ETC_NETWORK = ("hosts", "resolv.conf")


_PACKAGE = Path(__file__).resolve().parents[1]


@functools.cache
def binds(network: bool) -> tuple[tuple[str | None, str], ...]:
    """(host path, path inside) of everything that is bound read-only, parents before what lies below them.

    No host path stands for an empty folder: over the repository, should it lie within something that is bound.
    """
    found: dict[str, str | None] = {path: path for path in (*_usr(), *_etc(network), *_interpreter())}
    repository = _PACKAGE.parents[2]
    if _PACKAGE.parts[-3:-1] == ("workflow", "scripts") and any(map(repository.is_relative_to, found)):
        found[str(repository)] = None
    return tuple((source, path) for path, source in sorted(found.items()))


@functools.cache
def links() -> tuple[tuple[str, str], ...]:
    """(link target, path inside) of the top folders that are links on this system, such as /bin."""
    return tuple((os.readlink(path), path) for path in map("/{}".format, _TOP) if os.path.islink(path))


def _usr() -> Iterator[str]:
    for name in _TOP:
        if os.path.isdir(f"/{name}") and not os.path.islink(f"/{name}"):
            yield f"/{name}"
    for name in (*_USR, *(f"local/{name}" for name in _USR)):
        if os.path.isdir(f"/usr/{name}"):
            yield f"/usr/{name}"


def _etc(network: bool) -> Iterator[str]:
    for name in _ETC + (_ETC_NETWORK if network else ()):
        if os.path.exists(f"/etc/{name}"):
            yield f"/etc/{name}"


def _interpreter() -> Iterator[str]:
    """Where this Python lives: the environment, the installation below it, and every place its links lead through."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    place = Path(sys.executable)
    while os.path.islink(place):
        place = place.parent / place.readlink()
        prefixes.add(os.path.normpath(place.parent.parent))
    prefixes |= {os.path.realpath(prefix) for prefix in prefixes}
    for prefix in prefixes:
        if prefix not in ("/", "/usr", "/usr/local") and os.path.isdir(prefix):
            yield prefix
