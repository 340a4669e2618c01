"""Putting back, in a tree that somebody worked in, what decides how its tests come out."""

import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

from regrade.repository_tests.restoring import sections
from regrade.repository_tests.restoring.imports import takes_over
from regrade.repository_tests.restoring.names import SHARED_FILES, is_below, is_runner_file, test_files


class CannotRestoreError(Exception):
    """A link or a file stands where the pristine repository has a folder."""


def restore(
    pristine: Path,
    tree: Path,
    changed: Iterable[str],
    tests: Iterable[str],
    held_out: Iterable[str] = (),
    work: Collection[str] = (),
    workdir: str = ".",
) -> list[str]:
    """Put back held-out paths, runner configuration and the files of `tests`; what had to be put back, or removed.

    New files that Python would load by itself or in place of its own are removed.

    `changed` are the names that a patch wrote or removed, `tests` selectors as they are given to the runner, `work`
    names among all these whose change is what was asked for. A file that a selector names, and that was removed,
    stays away: its tests have to fail. Raises CannotRestoreError.
    """
    files, changed = set(_files(pristine)), set(changed)
    named, around = test_files(files, tests, workdir)
    held = _held(files | changed, tree, held_out)
    wanted = {name for name in files | changed if is_runner_file(name)} | around
    wanted |= {name for name in changed - files if takes_over(name, ("", workdir))}
    gone = {name for name in named if not _is_there(tree, name)} - held
    done = [name for name in sorted((wanted - set(work)) | named | held) if name not in gone]
    done = [name for name in done if _put_back(pristine, tree, name)]
    shared = {name for name in files | changed if PurePosixPath(name).name in SHARED_FILES}
    return done + [name for name in sorted(shared - named - held) if _put_sections_back(pristine, tree, name)]


def _held(names: set[str], tree: Path, held_out: Iterable[str]) -> set[str]:
    """The names at and below held-out paths. Raises CannotRestoreError where the way to one leads elsewhere."""
    held: set[str] = set()
    for path in (os.path.normpath(path) for path in held_out):
        _open_way(tree, path)
        held |= {name for name in names if name == path or (path != "." and is_below(name, path))}
    return held


def _files(folder: Path) -> Iterator[str]:
    """Every file and link, but for what git keeps."""
    for place, folders, names in os.walk(folder):
        below = os.path.relpath(place, folder)
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = [name for name in folders if name != ".git"]
        yield from (os.path.normpath(os.path.join(below, name)) for name in [*names, *links] if name != ".git")


def _is_there(tree: Path, name: str) -> bool:
    return os.path.lexists(tree / name)


def _put_back(pristine: Path, tree: Path, name: str) -> bool:
    """Make one name what it is in the pristine repository; whether anything had to be done."""
    source, target = pristine / name, tree / name
    if not _is_there(pristine, name):
        return _remove(tree, name)
    if _same(source, target):
        return False
    _open_way(tree, name)
    _remove(tree, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)
    _give(target, tree)
    return True


def _same(source: Path, target: Path) -> bool:
    if source.is_symlink() or target.is_symlink():
        return source.is_symlink() and target.is_symlink() and os.readlink(source) == os.readlink(target)
    if not target.is_file():
        return False
    modes = [path.stat().st_mode & 0o111 for path in (source, target)]
    return modes[0] == modes[1] and source.read_bytes() == target.read_bytes()


def _open_way(tree: Path, name: str) -> None:
    for parent in list(PurePosixPath(name).parents)[-2::-1]:
        place = tree / parent
        if place.is_symlink() or (os.path.lexists(place) and not place.is_dir()):
            raise CannotRestoreError(f"{parent} is no folder any more")


def _remove(tree: Path, name: str) -> bool:
    if not _is_there(tree, name):
        return False
    _open_way(tree, name)
    target = tree / name
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink()
    return True


def _give(target: Path, tree: Path) -> None:
    """Let a file belong to whom the tree belongs."""
    owner = tree.stat()
    if os.geteuid() == 0:
        os.chown(target, owner.st_uid, owner.st_gid, follow_symlinks=False)


def _put_sections_back(pristine: Path, tree: Path, name: str) -> bool:
    """Put the parts about tests back into a file that has other parts beside; whether that changed it."""
    target = tree / name
    if not target.is_file() or target.is_symlink():
        return False
    _open_way(tree, name)
    before, now = _text(pristine / name), _text(target)
    if sections.is_alike(target.name, now, before):
        return False
    merged = sections.merged(target.name, now, before)
    if merged is None:
        return _put_back(pristine, tree, name)
    target.write_bytes(merged.encode("utf-8", "surrogateescape"))
    return True


def _text(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return ""
    return path.read_bytes().decode("utf-8", "surrogateescape")
