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


@functools.cache
def binds(network: bool) -> tuple[tuple[str, str], ...]:
    """(host path, path inside) of everything that is bound read-only; parents come before what lies below them."""
    found = {path: path for path in (*_usr(), *_etc(network), *_interpreter())}
    return tuple(sorted((source, target) for target, source in found.items()))


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
