"""What a workspace has become is shown by one set of rules for trials of every format: complete and bounded."""

import os
import random
import shutil
import time
from pathlib import Path

import pytest

from patches_support import fenced, write
from regrade import workspace
from regrade.patches import snapshot
from regrade.patches.apply import apply_response
from regrade.patches.lines import Steps, hunks
from regrade.patches.snapshot import capture

BASE = {"f.txt": "one\ntwo\n", "old.py": "x = 1\n", "src/f.txt": "one\ntwo\n", "run.sh": "ls\n"}


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A pristine folder with a few files, and a writable copy of it."""
    pristine, changed = write(tmp_path / "pristine", BASE), tmp_path / "case" / ".rep-001.working"
    changed.parent.mkdir()
    workspace.copy_inputs(pristine, changed)
    return pristine, changed


def new_file(name: str, *lines: str) -> str:
    """How a new file is shown."""
    count = "1" if len(lines) == 1 else f"1,{len(lines)}"
    hunk = f"@@ -0,0 +{count} @@\n" if lines else ""
    return f"--- /dev/null\n+++ b/{name}\n{hunk}" + "".join(f"+{line}\n" for line in lines)


def test_nothing_changed_is_an_empty_patch(places: tuple[Path, Path]) -> None:
    """Equal copies and links to the same file are no difference."""
    assert b"" == capture(*places)
    shutil.rmtree(places[1])
    workspace.link_inputs(*places)
    assert b"" == capture(*places)


def test_new_deleted_empty_ignored_and_changed_files(places: tuple[Path, Path]) -> None:
    """All are in the patch, each under its own name, whatever .gitignore says."""
    _, changed = places
    (changed / "old.py").unlink()
    write(changed, {"f.txt": "one\nthree\n", "n.py": "y = 2\n", "pkg/__init__.py": ""})
    write(changed, {".gitignore": "*.log\n", "a.log": "ignored\n"})
    expected = [
        new_file(".gitignore", "*.log"),
        new_file("a.log", "ignored"),
        "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n",
        new_file("n.py", "y = 2"),
        "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n",
        new_file("pkg/__init__.py"),
    ]
    assert "".join(expected) == capture(*places).decode()


def test_binary_files_renames_and_modes(places: tuple[Path, Path]) -> None:
    """A compiled file is named, a rename is a removal and an addition, and a mode does not show."""
    _, changed = places
    (changed / "app").write_bytes(bytes(range(256)) * 20)
    (changed / "src/f.txt").write_bytes(b"one\r\n\xfftwo")
    (changed / "run.sh").chmod(0o755)
    (changed / "old.py").rename(changed / "g h.py")
    expected = [
        "Binary file added: app\n",
        new_file("g h.py", "x = 1"),
        "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n",
        "Binary files differ: src/f.txt\n",
    ]
    assert "".join(expected) == capture(*places).decode()


@pytest.mark.parametrize("name", ["café 1.txt", "two  blanks.txt", "tab\t.txt", 'quo"te\\', "-rf", "a b/c d"])
def test_odd_names(places: tuple[Path, Path], name: str) -> None:
    """None is quoted."""
    write(places[1], {name: "1\n"})
    assert new_file(name, "1") == capture(*places).decode()


def test_links_are_compared_and_never_followed(places: tuple[Path, Path], tmp_path: Path) -> None:
    """A link is its target's name, also one that leads out or to itself; a file may become a link."""
    _, changed = places
    (tmp_path / "secret").write_text("sk-test-123\n")
    (changed / "f.txt").unlink()
    links = {"out": str(tmp_path / "secret"), "loop": "loop", "folder": str(tmp_path), "f.txt": "src/f.txt"}
    write(changed, {name: {"symlink": target} for name, target in links.items()})
    expected = "--- a/f.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
    assert expected + "".join(new_file(name, links[name]) for name in sorted(links)) == capture(*places).decode()


def test_a_file_may_become_a_folder_and_the_reverse(places: tuple[Path, Path]) -> None:
    """Both sides are shown."""
    _, changed = places
    (changed / "f.txt").unlink()
    shutil.rmtree(changed / "src")
    write(changed, {"f.txt/inner": "1\n", "src": "2\n"})
    gone = "--- a/{0}\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
    expected = [gone.format("f.txt"), new_file("f.txt/inner", "1"), new_file("src", "2"), gone.format("src/f.txt")]
    assert "".join(expected) == capture(*places).decode()


def test_git_s_files_and_settings_have_no_say(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Attributes that hide or convert, a repository inside, the user's settings, even a missing git change nothing."""
    _, changed = places
    config = {".gitattributes": "* -diff text eol=lf\n", "sub/.git/config": "[core]\n\tfsmonitor = touch owned\n"}
    write(changed, {**config, "f.txt": "uno\r\ntwo\n"})
    monkeypatch.setenv("GIT_DIR", str(changed / "sub/.git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("PATH", "/nowhere")
    text = capture(*places).decode()
    assert "+++ b/f.txt\n@@ -1,2 +1,2 @@\n-one\n+uno\n two\n" in text
    assert "+++ b/sub/.git/config\n" in text


def test_two_places_with_context_and_one_line(tmp_path: Path) -> None:
    """Three lines around each change; changes that are near share a hunk."""
    lines = [f"{number}\n" for number in range(1, 21)]
    source = write(tmp_path / "s", {"f": "".join(lines)})
    workspace = write(tmp_path / "w", {"f": "".join([*lines[:2], "new\n", *lines[2:8], *lines[9:18], "x\n"])})
    expected = (
        "--- a/f\n+++ b/f\n@@ -1,12 +1,12 @@\n 1\n 2\n+new\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n 10\n 11\n 12\n"
        "@@ -16,5 +16,4 @@\n 16\n 17\n 18\n-19\n-20\n+x\n"
    )
    assert expected == capture(source, workspace).decode()


@pytest.mark.parametrize("steps", [1_000_000, 20])
def test_hunks_lead_from_one_side_to_the_other(tmp_path: Path, steps: int) -> None:
    """Random changes, read back by git; also where the steps run out and more is shown than had to be."""
    chance = random.Random(7)
    for _ in range(12):
        old = [b"%d" % chance.randrange(6) for _ in range(chance.randrange(1, 60))]
        new = [line for line in old if chance.random() > 0.2]
        for _ in range(5):
            new.insert(chance.randrange(len(new) + 1), b"%d" % chance.randrange(6))
        found = hunks(old, new, Steps(steps))
        patch = b"".join(line + b"\n" for line in (b"--- a/f", b"+++ b/f", *found)).decode()
        workspace = write(tmp_path / "w", {"f": b"".join(line + b"\n" for line in old)})
        if old != new:
            assert apply_response(workspace, fenced(patch), None).applied
        assert new == (workspace / "f").read_bytes().splitlines()


def test_few_changes_in_a_long_file_are_shown_as_few() -> None:
    """A hundred thousand lines with a change near each end."""
    old = [b"%d" % number for number in range(100_000)]
    new = [*old[:10], b"x", *old[11:-10], *old[-9:]]
    assert 9 + 8 == len(hunks(old, new, Steps(1_000_000)))


def test_what_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file over the limit, or all together; the others are shown."""
    source, workspace = write(tmp_path / "s", {"big": "1\n" * 3_000_000, "f": "1\n"}), tmp_path / "w"
    write(workspace, {"big": "1\n" * 3_000_001, "f": "2\n", "new": "2\n" * 3_000_000})
    shown = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n"
    expected = f"Files differ, not shown: big\n{shown}File added, not shown: new\n"
    assert expected == capture(source, workspace).decode()
    monkeypatch.setattr(snapshot, "LARGEST_IN_ALL", 5)
    write(workspace, {"h": "1\n"})
    assert "File added, not shown: h\n" in capture(source, workspace).decode()


def test_much_costs_little(tmp_path: Path) -> None:
    """An 85 MB file that changed, a sparse one of 256 MB, and lines chosen to make comparing slow."""
    line = "0123456789abcdef\n"
    chance = random.Random(1)
    source = write(tmp_path / "s", {"big": line * 5_000_000})
    workspace = write(tmp_path / "w", {"big": line * 4_999_999 + "x\n"})
    with (workspace / "sparse").open("wb") as stream:
        stream.truncate(1 << 28)
    for number in range(2):
        write(source, {f"slow{number}": "".join(chance.choices("ab\n", k=700_000))})
        write(workspace, {f"slow{number}": "".join(chance.choices("ab\n", k=700_000))})
    start = time.process_time()
    diff = capture(source, workspace)
    assert time.process_time() - start < 20
    assert diff.startswith(b"Files differ, not shown: big\n--- a/slow0\n")
    assert diff.endswith(b"\nFile added, not shown: sparse\n")


def test_special_files_modes_and_empty_folders_do_not_show(tmp_path: Path) -> None:
    """Only files and links are compared."""
    source, workspace = write(tmp_path / "s", {"f": "1\n"}), write(tmp_path / "w", {"f": "1", "d": {"dir": True}})
    os.mkfifo(workspace / "pipe")
    (workspace / "f").chmod(0o755)
    assert b"" == capture(source, workspace)


def test_odd_names_and_targets(tmp_path: Path) -> None:
    """Names are not quoted, but none can break a line; a link's target that is no text is binary."""
    workspace = write(tmp_path / "w", {"a\nb": "1\n", "grün": "", 'q"': ""})
    (workspace / os.fsdecode(b"\xe9")).write_text("")
    (workspace / "l").symlink_to(os.fsdecode(b"\xe9"))
    (tmp_path / "s").mkdir()
    expected = "--- /dev/null\n+++ b/a\\nb\n@@ -0,0 +1 @@\n+1\n--- /dev/null\n+++ b/grün\n"
    expected += 'Binary file added: l\n--- /dev/null\n+++ b/q"\n'
    assert expected.encode() + b"--- /dev/null\n+++ b/\xe9\n" == capture(tmp_path / "s", workspace)
