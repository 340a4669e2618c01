"""The repository that is tested: the pristine one, with a model's changes as far as they are its business."""

import filecmp
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from regrade.repository_tests.protected import is_protected, is_test_file, loads_by_itself

LEFT_OUT = ("__pycache__", ".pytest_cache", ".git")


def copy(source: Path, target: Path) -> None:
    """Copy a repository without what is no part of it; files that may be written, no links."""
    shutil.copytree(
        source, target, ignore=shutil.ignore_patterns(*LEFT_OUT), ignore_dangling_symlinks=True,
        copy_function=shutil.copyfile,
    )  # fmt: skip


def build(pristine: Path, workspace: Path, target: Path) -> list[str]:
    """Make the tree to be tested; the changes that were left out.

    Tests and their configuration are the pristine ones. Tests that the model added are not there, nor is what Python
    would load by itself.
    """
    copy(pristine, target)
    before, after = set(_files(pristine)), set(_files(workspace))
    left_out = []
    for name in sorted(before | after):
        if name in before and name in after and filecmp.cmp(pristine / name, workspace / name, shallow=False):
            continue
        if is_protected(name) or (name not in before and (is_test_file(name) or loads_by_itself(name))):
            left_out.append(name)
        elif name in after:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(workspace / name, target / name)
        else:
            (target / name).unlink()
    return left_out


def _files(folder: Path) -> Iterator[str]:
    """The regular files below a folder, by their names in it; links count for nothing."""
    for place, folders, names in os.walk(folder):
        folders[:] = [
            name for name in folders if name not in LEFT_OUT and not os.path.islink(os.path.join(place, name))
        ]
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield str(path.relative_to(folder))
