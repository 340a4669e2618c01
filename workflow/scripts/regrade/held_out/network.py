"""Failures that look like the network's: the format's list."""

import re

NETWORK = (
    r"E(CONN(RESET|REFUSED|ABORTED)|TIMEDOUT|SOCKETTIMEDOUT|PIPE|PERM)"
    r"|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|FetchError"
    r"|socket hang up|registry\.(npmjs\.org|yarnpkg\.com)|files\.pythonhosted\.org|pypi\.org"
    r"|proxy\.golang\.org|static\.crates\.io|index\.crates\.io|TLS handshake timeout"
    r"|[Tt]emporary failure in name resolution|Could not resolve host|Network is unreachable|network timeout"
)
"""An extended regular expression, for grep and for Python alike."""

_PATTERN = re.compile(NETWORK.encode())


def looks_like_network(output: bytes) -> bool:
    """Whether the output of a command that failed names the network."""
    return bool(_PATTERN.search(output))
