"""Addresses of repositories and pull requests on GitHub."""

import re

from regrade.errors import RegradeError

_PART = r"([\w.-]+)"
_REPOSITORY = re.compile(rf"https://github\.com/{_PART}/{_PART}/?", re.IGNORECASE | re.ASCII)
_PULL_REQUEST = re.compile(rf"https://github\.com/{_PART}/{_PART}/pull/([0-9]+)/?", re.IGNORECASE | re.ASCII)
_CLONE = re.compile(rf"(?:(?:https|ssh|git)://)?(?:git@)?github\.com[/:]{_PART}/{_PART}/?", re.IGNORECASE | re.ASCII)
_NAME = re.compile(rf"{_PART}/{_PART}", re.ASCII)


def repository(url: str) -> str:
    """`owner/name` in small letters for a repository's address. Raises RegradeError for any other address."""
    if found := _REPOSITORY.fullmatch(url):
        return _name(found)
    raise RegradeError(f"unsupported GitHub repository URL: {url}")


def check_pull_request(name: str, url: str, number: int) -> None:
    """Raise RegradeError unless an address is that of a repository's (`owner/name`) pull request of this number."""
    found = _PULL_REQUEST.fullmatch(url)
    if not found:
        raise RegradeError(f"invalid GitHub pull request URL: {url}")
    if _name(found) != name.lower() or found[3].lstrip("0") != str(number):
        raise RegradeError(f"pull request {url} does not match {name.lower()}#{number}")


def name_of(label: str) -> str | None:
    """`owner/name` for what a definition calls its repository: that name, or an address to clone; else None."""
    found = _CLONE.fullmatch(label) or _NAME.fullmatch(label)
    return _name(found) if found else None


def is_on_github(url: str) -> bool:
    """Whether an address is one of github.com."""
    return re.match(r"https?://(?:www\.)?github\.com(?:[/:?#]|$)", url, re.IGNORECASE) is not None


def _name(found: "re.Match[str]") -> str:
    return f"{found[1]}/{found[2].removesuffix('.git')}".lower()
