"""The repository that is tested: the pristine one, with a model's changes as far as they are its business."""

import filecmp
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from regrade import workspace_files
from regrade.formats.suite.fixtures import LEFT_OUT
from regrade.repository_tests import protected
from regrade.repository_tests.restoring.imports import loads_by_itself, shadows
from regrade.sandbox.inside.files import is_too_deep
from regrade.workspace import copy_file, make_folder

_CONFIGURATION = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")
_TESTS = re.compile(rb"^[ \t]*(?:async[ \t]+)?def test|^class \w*Test", re.MULTILINE)
_ON_PATH = re.compile(r"^[ \t]*pythonpath\s*=\s*(\[[^\]]*\]|.*)", re.MULTILINE)


class Changes(NamedTuple):
    """Names of a model's files in a tree: new ones, others that it changed, and (to be shown) those not in it."""

    added: list[str]
    changed: list[str]
    left_out: list[str]

    def leave_out(self, name: str) -> None:
        """Note a file that is not in the tree."""
        self.left_out.append(os.fsencode(name).decode("utf-8", "backslashreplace"))


def copy(source: Path, target: Path) -> None:
    """Copy a repository's files, and links that stay inside; nothing of caches, of git, or that is no file."""
    make_folder(target)
    for place, names in _walk(source):
        inside = target / place
        for name in names:
            _copy_entry(source, source / place / name, inside / name)


def build(pristine: Path, workspace: Path, target: Path) -> Changes:
    """Make the tree to be tested. Tests, their configuration and what could load by itself are the pristine ones."""
    copy(pristine, target)
    found = Changes([], [], [])
    roots = _import_roots(pristine)
    left = set(files(workspace))
    for name in sorted(differences(pristine, workspace), key=lambda name: (name in left, name)):
        is_new = not (pristine / name).is_file()
        shut = shadows(name, roots) if is_new else _holds_tests(pristine / name)
        if shut or _is_none_of_its_business(workspace / name, name):
            found.leave_out(name)
        elif name not in left:
            (target / name).unlink()
        elif _put(workspace / name, target, name):
            (found.added if is_new else found.changed).append(name)
        else:
            found.leave_out(name)
    return found


def put_test(target: Path, name: str, content: str) -> None:
    """Write a test into a tree, whatever a model left in its place."""
    for parent in reversed(PurePosixPath(name).parents[:-1]):
        if (target / parent).is_file():
            (target / parent).unlink()
        make_folder(target / parent)
    place = target / name
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.write_bytes(content.encode("utf-8", "backslashreplace"))


def test_code(tree: Path) -> dict[str, bytes]:
    """The files of a tree that decide how its tests come out, as far as their names tell, and their bytes."""
    return {name: (tree / name).read_bytes() for name in files(tree) if protected.decides(name)}


def differences(pristine: Path, workspace: Path) -> list[str]:
    """Names of files that are only in one of two trees, or not the same in both; links count for nothing."""
    before, after = set(files(pristine)), set(files(workspace))
    return sorted((before ^ after) | {name for name in before & after if _differ(pristine / name, workspace / name)})


def files(folder: Path) -> Iterator[str]:
    """The regular files of a repository, by their names in it."""
    for place, names in _walk(folder):
        for name in names:
            path = folder / place / name
            if path.is_file() and not path.is_symlink():
                yield (place / name).as_posix()


def _walk(folder: Path) -> Iterator[tuple[PurePosixPath, list[str]]]:
    """Every folder, by its name in the repository, and the entries in it that count."""
    for place, folders, names in os.walk(folder):
        below = PurePosixPath(os.path.relpath(place, folder))
        is_last = is_too_deep(str(below / "_"), len(below.parts) + 1)
        folders[:] = [name for name in folders if name not in LEFT_OUT and not is_last]
        yield below, [*folders, *(name for name in names if name not in LEFT_OUT)]


def _copy_entry(source: Path, path: Path, target: Path) -> None:
    if path.is_symlink():
        leads_to = os.readlink(path)
        meant = os.path.normpath(os.path.join(os.path.relpath(path.parent, source), leads_to))
        if not os.path.isabs(leads_to) and workspace_files.resolve(source, meant) is not None:
            target.symlink_to(leads_to)
    elif path.is_dir():
        make_folder(target)
    elif path.is_file():
        copy_file(path, target)


def _put(source: Path, target: Path, name: str) -> bool:
    """Copy a file into a tree; false where a folder with files, or a file above it, had to stay."""
    for above in reversed(PurePosixPath(name).parents[:-1]):
        if (target / above).is_symlink():
            (target / above).unlink()
        elif (target / above).is_file():
            return False
        make_folder(target / above)
    place = target / name
    if place.is_symlink():
        place.unlink()
    elif place.is_dir():
        if any(files(place)):
            return False
        shutil.rmtree(place)
    copy_file(source, place)
    return True


def _differ(first: Path, second: Path) -> bool:
    is_run = [bool(path.stat().st_mode & 0o100) for path in (first, second)]
    return is_run[0] != is_run[1] or not filecmp.cmp(first, second, shallow=False)


def _holds_tests(path: Path) -> bool:
    return protected.is_test_file(path.name) and bool(_TESTS.search(path.read_bytes()))


def _is_none_of_its_business(path: Path, name: str) -> bool:
    return protected.is_protected(name) or loads_by_itself(name) or _configures_pytest(path)


def _configures_pytest(path: Path) -> bool:
    return path.name.lower() in _CONFIGURATION and path.is_file() and b"pytest" in path.read_bytes()


def _import_roots(pristine: Path) -> set[str]:
    """The repository's own folder, "", and those that its configuration lets pytest put on the module search path."""
    roots = {""}
    for path in (pristine / name for name in _CONFIGURATION):
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        for listed in _ON_PATH.findall(text):
            roots.update(part.removeprefix("./").rstrip("/.") for part in re.findall(r"[^\s\[\]\"',]+", listed))
    return roots
