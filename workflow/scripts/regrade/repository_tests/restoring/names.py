"""Which files decide how tests come out, by their names."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

PYTEST_FILES = ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini")
RUNNER_FILES = (
    *PYTEST_FILES,
    *("sitecustomize.py", "usercustomize.py", "*.pth", "noxfile.py", ".coveragerc"),
    *("jest.config.*", "jest.setup.*", "jest-preset.*", "vitest.config.*", "vitest.workspace.*", "vitest.setup.*"),
    *("vite.config.*", "bunfig.toml", ".mocharc*", "ava.config.*", "playwright.config.*", "cypress.config.*"),
    *("karma.conf*", ".npmrc", ".taprc", "nextest.toml", "config.toml", "*_test.go", "*.pyc"),
)
"""Names, anywhere, of files that decide how tests are run (`config.toml` in `.cargo` and `.config` only).

A `TestMain` in any test file of a Go package runs in place of all its tests, and compiled Python in place of a source.
"""

SHARED_FILES = ("pyproject.toml", "setup.cfg", "package.json")
"""Files that configure runners and other things beside: of these only what is about tests is put back."""

_TEST_NAMES = ("test_*.py", "*_test.py", "tests.py", "*_test.go", "*.test.*", "*.spec.*", "test.*", "*_test.rs")
_TEST_FOLDERS = {"test", "tests", "__tests__", "spec", "specs", "e2e"}
_CARGO = {".cargo", ".config"}


def is_runner_file(name: str) -> bool:
    """Whether a file configures what runs tests."""
    parts = PurePosixPath(name.lower()).parts
    if not parts:
        return False
    if parts[-1] == "config.toml":
        return len(parts) > 1 and parts[-2] in _CARGO
    return any(fnmatchcase(parts[-1], pattern) for pattern in RUNNER_FILES)


def test_files(files: Collection[str], selectors: Iterable[str], workdir: str = ".") -> tuple[set[str], set[str]]:
    """The files that selectors name, and others that take part: in named folders, beside the tests.

    A selector that names no file is a name of the runner's own: then it may be any test of the repository.
    """
    named: set[str] = set()
    around: set[str] = set()
    for selector in selectors:
        place = next((path for path in _meant(selector, workdir) if path in files), None)
        if place is not None:
            named.add(place)
            around |= _beside(files, place)
            continue
        folder = next((path for path in _meant(selector, workdir) if _holds(files, path)), "")
        around |= {name for name in files if is_below(name, folder) and is_test_file(name, folder)}
    return named, around - named


def is_test_file(name: str, below: str = "") -> bool:
    """Whether a file looks like a test, by its name or by that of a folder it is in."""
    parts = PurePosixPath(name).parts
    by_name = any(fnmatchcase(parts[-1], pattern) for pattern in _TEST_NAMES)
    return by_name or (bool(_TEST_FOLDERS & set(parts[:-1])) and (not below or is_below(name, below)))


def _meant(selector: str, workdir: str) -> Iterator[str]:
    """The paths, in the repository, that a selector may name."""
    bare = selector.split("::", 1)[0].split("#", 1)[0].removesuffix("/...")
    dotted = bare.split(".")
    spellings = [selector, bare, re.sub(r"(?::\d+)+$", "", bare)]
    spellings += ["/".join(dotted[:end]) + ".py" for end in range(len(dotted), 0, -1)]
    for spelling in spellings:
        path = os.path.normpath(os.path.join("/", workdir, spelling.removeprefix("/app/"))).lstrip("/")
        if path:
            yield path


def _beside(files: Collection[str], name: str) -> set[str]:
    """The files in the outermost folder of tests around a file."""
    parts = PurePosixPath(name).parts[:-1]
    first = next((at for at, part in enumerate(parts) if part in _TEST_FOLDERS), None)
    return set() if first is None else {other for other in files if is_below(other, "/".join(parts[: first + 1]))}


def _holds(files: Collection[str], folder: str) -> bool:
    return any(is_below(name, folder) for name in files)


def is_below(name: str, folder: str) -> bool:
    """Whether a name lies in a folder, "" for the repository's own."""
    return not folder or name.startswith(f"{folder}/")
