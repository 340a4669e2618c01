"""SelfBench tasks on disk: paths that leave the repository, patches as git means them, and what `check` says."""

import json
import subprocess
import time

import pytest

from regrade import cli
from regrade.errors import FaultsError, RegradeError
from regrade.formats import selfbench
from regrade.formats.selfbench import diffs, github
from regrade.formats.selfbench.check import check_folder
from selfbench_tasks import added, vectors, write, write_vector

AS_GIT_MEANS_THEM = {"testPatch.quoted.only", "testPatch.crlf"}
"""Vectors whose headers the format's tool does not see, and git does."""


def message_of(folder):
    with pytest.raises(FaultsError) as caught:
        selfbench.load(folder)
    [fault] = caught.value.faults
    return fault.message


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in vectors("load")])
def test_vectors(row, tmp_path):
    """The first rule that a task breaks, in the format's words; what its tool lets pass by accident is refused."""
    folder = write_vector(tmp_path, row)
    if row.get("referenceLeniency"):
        assert "path escapes repository: " in message_of(folder)
    elif row["accepted"] or row["id"] in AS_GIT_MEANS_THEM:
        assert "calc-pr-7" == selfbench.load(folder).definition.task_id
    else:
        assert row["error"] == message_of(folder)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"workdir": "/app"}, "/app"),
        ({"workdir": "a/.GIT"}, "a/.GIT"),
        ({"testPaths": ["/etc/passwd"]}, "/etc/passwd"),
        ({"workdir": "a", "testPaths": ["../.git/config"]}, ".git/config"),
    ],
)
def test_paths_of_a_definition_stay_in_the_repository(changes, path, tmp_path):
    """Absolute ones and those into git's own folder are refused too."""
    assert f"task path escapes repository: {path}" == message_of(write(tmp_path, **changes))


@pytest.mark.parametrize("path", ["../x", ".git/config", "a/.Git/hooks/x", "/etc/x"])
def test_paths_of_the_gold_patch_stay_in_the_repository(path, tmp_path):
    """As those of the tests do."""
    assert f"gold patch path escapes repository: {path}" == message_of(write(tmp_path, None, added(path, 1)))


BINARY = "diff --git a/i b/i\nindex 0..1\nGIT binary patch\nliteral 4\nLc\n\n"
RENAME = "diff --git a/x b/x\nsimilarity index 100%\nrename from .git/config\nrename to x\n"


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (RENAME, "gold patch path escapes repository: .git/config"),
        ('diff --git "a/\\056git/x" "b/\\056git/x"\n', "gold patch path escapes repository: .git/x"),
        (added("a", 1) + "--- a/../b\n+++ b/../b\n@@ -0,0 +1 @@\n+x\n", "gold patch path escapes repository: ../b"),
        (f"{BINARY}--- a/../b\n+++ b/../b\n@@ -0,0 +1 @@\n+x\n", "gold patch path escapes repository: ../b"),
        ("diff --git ../x ../x\n--- ../x\n+++ ../x\n", "gold patch path escapes repository: ../x"),
        ('diff --git "a/x b/x\n', "malformed quoted path in 'diff --git \"a/x b/x', expected a name as git quotes it"),
        (" " + added("a", 1), "gold.patch is not a Git patch"),
        ("", "gold.patch is not a Git patch"),
    ],
)
def test_headers_are_read_as_git_means_them(patch, message, tmp_path):
    """Old names of renames, quoted names, files without a `diff --git` line, names without prefixes."""
    assert message == message_of(write(tmp_path, None, patch))


def test_the_sections_of_a_real_git_patch(tmp_path):
    """A rename, a deletion, a new file with a blank and an umlaut, a binary one: names, lines and bytes are git's."""
    git(tmp_path, "init", "-q")
    (tmp_path / "old.py").write_text("a\nb\nc\nd\ne\nf\n")
    (tmp_path / "gone.sql").write_text("-- x\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "base")
    (tmp_path / "old.py").rename(tmp_path / "new.py")
    (tmp_path / "gone.sql").unlink()
    (tmp_path / "a ü.txt").write_text("++i\n")
    (tmp_path / "i.png").write_bytes(bytes(range(256)))
    git(tmp_path, "add", "-A")
    patch = git(tmp_path, "diff", "--cached", "--binary", "-M", "HEAD")
    found = {section.path: section for section in diffs.sections(patch)}
    assert ["a ü.txt", "gone.sql", "i.png", "new.py"] == sorted(found)
    assert [1, 1, 0] == [found[name].changed for name in ("a ü.txt", "gone.sql", "new.py")]
    assert ["new.py", "old.py"] == found["new.py"].touched
    assert ["a ü.txt", "gone.sql", "i.png", "new.py", "old.py"] == sorted(diffs.paths(patch))
    assert patch == b"".join(section.raw for section in diffs.sections(patch))
    bare = git(tmp_path, "diff", "--cached", "--binary", "-M", "--no-prefix", "HEAD")
    assert (diffs.paths(patch), 1, 0) == (diffs.paths(bare), diffs.strip_level(patch), diffs.strip_level(bare))


def git(folder, *words):
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.quotepath=true"]
    return subprocess.run(["git", *settings, *words], cwd=folder, capture_output=True, check=True).stdout


@pytest.mark.parametrize("row", [pytest.param(row, id=row["id"]) for row in vectors("patchPaths")])
def test_paths_of_vectors(row):
    """Sorted, each once; of a moved file the old name too."""
    expected = ["new", "old"] if row["id"] == "rename" else row["paths"]
    assert expected == diffs.paths(row["patch"].encode())


def test_hunks_are_counted_where_a_removed_and_an_added_line_look_like_headers():
    """The pair belongs to its hunk as long as that is not full; behind it a file begins."""
    pair = "--- a/x\n+++ b/x\n@@ -9 +9 @@\n-a\n+b\n"
    inside = f"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n{pair}"
    behind = f"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n{pair}"
    assert [("f", 4)] == [(section.path, section.changed) for section in diffs.sections(inside.encode())]
    assert [("f", 2), ("x", 2)] == [(section.path, section.changed) for section in diffs.sections(behind.encode())]


def test_a_large_patch_is_read_in_linear_time(tmp_path):
    """Ten megabytes take no second each time they are read."""
    patch = added("a", 1).encode() + b"@@ -1 +1 @@\n--- a\n+++ b\n" * 100_000 + b"+x\n" * 2_000_000
    begin = time.process_time()
    assert 2_200_001 == diffs.changed_lines(patch)
    assert ["a"] == diffs.paths(patch)
    assert time.process_time() - begin < 5


# check


def said(folder):
    return [(fault.severity, fault.field, fault.message) for fault in check_folder(folder)]


def test_check_takes_folders_files_and_folders_of_folders(tmp_path, capsys):
    """A fault makes it end with 1, and --json gives it field by field."""
    write(tmp_path / "tasks" / "calc-pr-7")
    write(tmp_path / "tasks" / "other", taskId="other", workdir="..")
    assert 0 == cli.main(["check", str(tmp_path / "tasks" / "calc-pr-7" / "definition.json")])
    capsys.readouterr()
    assert 1 == cli.main(["check", "--json", str(tmp_path / "tasks")])
    printed = capsys.readouterr()
    place = str(tmp_path / "tasks" / "other" / "definition.json")
    message = "task path escapes repository: .."
    assert {"path": place, "field": "workdir", "message": message, "severity": "fault"} == json.loads(printed.out)
    assert "checked: 2 tasks, 0 sets, 1 faults, 0 warnings\n" == printed.err


def test_check_says_nothing_of_a_sound_task(tmp_path):
    """Not even a warning."""
    assert [] == said(write(tmp_path / "calc-pr-7"))


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"taskId": "a..b"}, "taskId", "Harbor takes no name with two dots in a row"),
        ({"resources": {"cpus": 0.5, "memoryMb": 1, "storageMb": 1}}, "resources.cpus", "take whole numbers only"),
        ({"testPaths": ["."]}, "testPaths.0", "git takes it for a pattern"),
        ({"sourcePr": 8}, "sourceUrl", "https://github.com/example/calc/pull/7 does not match example/calc#8"),
        ({"repo": "git@github.com:Other/calc.git"}, "sourceUrl", "does not match other/calc#7"),
        ({"sourceUrl": "https://github.com/example/calc"}, "sourceUrl", "invalid GitHub pull request URL: https://"),
    ],
)
def test_check_warns(changes, field, message, tmp_path):
    """Of names and numbers that Harbor cannot take, of patterns, and of a pull request of another repository."""
    [(severity, found_field, found)] = said(write(tmp_path / changes.get("taskId", "calc-pr-7"), **changes))
    assert ("warning", field, True) == (severity, found_field, message in found)


def test_check_warns_of_a_patch_that_is_cut_off(tmp_path):
    """Which git would refuse; whole ones are not complained of."""
    cut = added("src/a.py", 20)[:-40]
    assert [("warning", "", "ends in the middle of a hunk: git will not apply it")] == said(
        write(tmp_path / "calc-pr-7", None, cut)
    )


def test_a_repository_elsewhere_is_no_reason_for_a_warning(tmp_path):
    """Nor is a label that is no name."""
    elsewhere = "https://gitlab.com/a/b/-/merge_requests/1"
    assert [] == said(write(tmp_path / "calc-pr-7", sourceUrl=elsewhere))
    assert [] == said(write(tmp_path / "calc-pr-7", repo="calc"))


def test_missing_files_are_named(tmp_path):
    """The path and the reason."""
    folder = write(tmp_path)
    (folder / "gold.patch").unlink()
    with pytest.raises(FaultsError, match=r"gold\.patch: cannot be read: No such file or directory, expected a file"):
        selfbench.load(folder)


def test_all_tasks_below_a_folder(tmp_path):
    """Sound ones and faulty ones by their folders' names; one that is called otherwise than its folder is a fault."""
    write(tmp_path / "calc-pr-7")
    write(tmp_path / "copy")
    write(tmp_path / "bad", taskId="bad", prompt="")
    (tmp_path / "nothing").mkdir()
    loaded = selfbench.load_all(tmp_path)
    assert (["calc-pr-7"], ["bad", "copy"]) == (list(loaded.tasks), list(loaded.faults))
    assert "is 'calc-pr-7', expected the folder's name, 'copy'" == loaded.faults["copy"][0].message
    assert {} == selfbench.load_all(tmp_path / "none").tasks


@pytest.mark.parametrize("row", vectors("githubRepository"))
def test_repositories_of_vectors(row):
    """`owner/name`, or the format's message."""
    try:
        found = {"repository": github.repository(row["url"])}
    except RegradeError as error:
        found = {"error": str(error)}
    assert {key: row[key] for key in row if key in ("repository", "error")} == found


@pytest.mark.parametrize("row", vectors("githubPullRequest"))
def test_pull_requests_of_vectors(row):
    """One that belongs to its repository passes; the others get the format's message."""
    name = github.repository(row["repositoryUrl"])
    with pytest.raises(RegradeError) as caught:
        github.check_pull_request(name, row["pullRequestUrl"], row["number"])
    assert row["error"] == str(caught.value)
    github.check_pull_request(name, "https://github.com/A/B/pull/7", 7)
