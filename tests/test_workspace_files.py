"""Harnesses read and change a workspace by names that cannot lead out of it."""

import os
from pathlib import Path

import pytest

from patches_support import read, write
from regrade import workspace_files
from regrade.errors import RegradeError


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with files, folders and links of every kind; beside it lies a file that is none of its business."""
    (tmp_path / "secret").write_text("sk-test-123\n")
    files = {
        "b.txt": "b\n",
        "a-b": "1\n",
        "a/b": "2\n",
        "a/deep/c": "3\n",
        "empty": {"dir": True},
        "to-file": {"symlink": "a/b"},
        "to-folder": {"symlink": "a"},
        "to-nothing": {"symlink": "none"},
        "to-itself": {"symlink": "to-itself"},
        "out-file": {"symlink": "../secret"},
        "out-folder": {"symlink": str(tmp_path)},
    }
    folder = write(tmp_path / "w", files)
    os.mkfifo(folder / "pipe")
    return folder


OUTSIDE = [
    "/etc/passwd",
    "../secret",
    "a/../../secret",
    "a/../b.txt",
    "out-file",
    "out-folder/secret",
    "out-folder/new",
]


def test_files_are_listed_sorted_with_links_that_stay_inside(workspace: Path) -> None:
    """No special files, no broken links, none that lead out, nothing behind a linked folder."""
    assert ["a-b", "a/b", "a/deep/c", "b.txt", "to-file"] == workspace_files.list_files(workspace)


def test_folders_are_listed_sorted_without_links(workspace: Path) -> None:
    """Nested and empty ones too, the workspace itself not."""
    assert ["a", "a/deep", "empty"] == workspace_files.list_folders(workspace)


def test_lists_see_what_was_made_before(workspace: Path) -> None:
    """Each call looks anew."""
    workspace_files.write(workspace, "n/m/new", "x")
    assert "n/m/new" in workspace_files.list_files(workspace)
    assert ["a", "a/deep", "empty", "n", "n/m"] == workspace_files.list_folders(workspace)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("b.txt", True),
        ("./a/b", True),
        ("to-file", True),
        ("to-folder/b", True),
        ("a", False),
        ("to-folder", False),
        ("to-nothing", False),
        ("to-itself", False),
        ("none", False),
        ("b.txt/x", False),
        ("pipe", False),
        (".", False),
    ],
)
def test_only_regular_files_exist(workspace: Path, name: str, expected: bool) -> None:
    """And links to them; folders, special files and what is missing do not."""
    assert expected == workspace_files.exists(workspace, name)
    assert expected == workspace_files.delete(workspace, name)


def test_text_is_read_and_written_as_it_is(workspace: Path) -> None:
    """Line ends included; folders are made, and a link inside is written through."""
    workspace_files.write(workspace, "x/y.txt", "grün\r\n\rlast")
    assert "grün\r\n\rlast" == workspace_files.read(workspace, "x/y.txt")
    workspace_files.write(workspace, "to-file", "new\n")
    assert ("new\n", {"symlink": "a/b"}) == (read(workspace)["a/b"], read(workspace)["to-file"])


def test_a_deleted_link_leaves_its_target(workspace: Path) -> None:
    """Only the link goes."""
    assert workspace_files.delete(workspace, "to-file")
    assert ("2\n", False) == ((workspace / "a/b").read_text(), os.path.lexists(workspace / "to-file"))


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_leads_out(workspace: Path, name: str) -> None:
    """Not by its own parts, not through a link; the message names it and nothing is touched."""
    for use in (workspace_files.exists, workspace_files.read, workspace_files.delete):
        with pytest.raises(RegradeError, match="leads out of the workspace, expected a name inside it"):
            use(workspace, name)
    with pytest.raises(RegradeError, match="leads out"):
        workspace_files.write(workspace, name, "x")
    assert ["secret", "w"] == sorted(place.name for place in workspace.parent.iterdir())
    assert "sk-test-123\n" == (workspace.parent / "secret").read_text()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a", "Is a directory"),
        ("none", "No such file"),
        ("latin", "cannot be a file of UTF-8 text"),
        ("n\0l", "holds a null character, which no path can"),
        ("b.txt/x", "Not a directory"),
        ("n" * 300, "File name too long"),
    ],
)
def test_what_cannot_be_read_is_said(workspace: Path, name: str, message: str) -> None:
    """In one line with the name."""
    (workspace / "latin").write_bytes(b"\xe9")
    with pytest.raises(RegradeError, match=message) as caught:
        workspace_files.read(workspace, name)
    assert str(caught.value).startswith(repr(name))


@pytest.mark.parametrize("name", ["a", "b.txt/x", ".", "to-itself", "n" * 300, "n\0l"])
def test_what_cannot_be_written_is_said(workspace: Path, name: str) -> None:
    """And changes nothing."""
    before = read(workspace)
    with pytest.raises(RegradeError, match=r"^'"):
        workspace_files.write(workspace, name, "x")
    with pytest.raises(RegradeError, match="UTF-8"):
        workspace_files.write(workspace, "b.txt", "\ud800")
    assert before == read(workspace)
