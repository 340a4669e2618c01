"""Where requests go."""

from urllib.parse import urlsplit, urlunsplit


def with_path(base_url: str, path: str, less: str = "") -> str:
    """The base address with a path behind its own, unless it stands there; its query is kept.

    `less` is an ending of another protocol's addresses, which is taken off first.
    """
    parts = urlsplit(base_url)
    own = parts.path.rstrip("/")
    if not own.endswith(path):
        own = own.removesuffix(less) + path
    return urlunsplit((parts.scheme, parts.netloc, own, parts.query, ""))
