"""Complaints of other harnesses' users about diffs and patches, each in the direction that is right."""

import os
import stat
import subprocess
from pathlib import Path
from typing import ClassVar

import pytest

from patches_support import Files, fenced, read, write
from regrade import digests
from regrade.patches.apply import Applied, apply_response
from regrade.patches.snapshot import capture
from regrade.patches.unified import read as read_diff

NOT_CLEAN = "unified diff could not be applied cleanly"
CLEAN = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/none"}


def applied_to(folder: Path, files: Files, patch: str) -> Applied:
    """Apply a patch to a folder of `files`."""
    return apply_response(write(folder, files), fenced(patch), 30.0)


def expect_refusal(folder: Path, files: Files, patch: str, why: str) -> Applied:
    """Check that a patch is refused in these words, and that nothing has changed."""
    applied = applied_to(folder, files, patch)
    assert f"Patch rejected: {why}; workspace left unchanged.\n" == applied.stderr
    assert (False, "", files) == (applied.applied, applied.stdout, read(folder))
    return applied


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, env=CLEAN, check=True, capture_output=True, text=True).stdout


class TestWrongCounts:
    """B28: the counts in a hunk's header are wrong."""

    def test_too_high_or_too_low_is_repaired(self, tmp_path: Path) -> None:
        """The whole change is made."""
        change = "--- a/f\n+++ b/f\n@@ -1,9 +1,7 @@\n 1\n-2\n+two\n 3\n"
        assert applied_to(tmp_path / "high", {"f": "1\n2\n3\n"}, change).applied
        assert {"f": "1\ntwo\n3\n"} == read(tmp_path / "high")
        new = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+1\n+2\n+3\n+4\n"
        assert applied_to(tmp_path / "low", {}, new).applied
        assert {"n": "1\n2\n3\n4\n"} == read(tmp_path / "low")

    def test_what_cannot_be_repaired_is_refused_and_never_cut_short(self, tmp_path: Path) -> None:
        """git alone writes two of the four lines and says that all is well."""
        patch = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+1\n+2\n+3\n+4\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n"
        expect_refusal(tmp_path / "w", {"f": "1\n"}, patch, NOT_CLEAN)

    def test_a_mail_s_signature_is_no_lost_line(self, tmp_path: Path) -> None:
        """The two dashes under a mailed patch are not taken for a removed line."""
        patch = "- a list\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n-- \n2.39.5\n\n- another\n"
        assert applied_to(tmp_path / "w", {"f": "1\n2\n"}, patch).applied
        assert {"f": "1\n3\n"} == read(tmp_path / "w")


@pytest.mark.parametrize("junk", ["--- a rule\n", "@@ -1 +1 @@\n", "+ a list\n- a list\n\n", "index\n"])
def test_words_before_the_patch_do_no_harm(tmp_path: Path, junk: str) -> None:
    """Prose in the block, also where it looks a little like a diff."""
    assert applied_to(tmp_path / "w", {"f": "1\n"}, junk + "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n").applied
    assert {"f": "2\n"} == read(tmp_path / "w")


def test_numbers_beyond_all_bounds_are_refused(tmp_path: Path) -> None:
    """A header of five thousand digits is no crash."""
    expect_refusal(tmp_path / "w", {"f": "1\n"}, f"--- a/f\n+++ b/f\n@@ -{'9' * 5000} +1 @@\n-1\n+2\n", NOT_CLEAN)


class TestPrefixes:
    """B29: names without a/ and b/."""

    SAME: ClassVar = {"f.txt": "1\n", "src/f.txt": "1\n"}

    @pytest.mark.parametrize(
        "headers",
        [
            "--- src/f.txt\n+++ src/f.txt\n",
            "diff --git src/f.txt src/f.txt\n--- src/f.txt\n+++ src/f.txt\n",
            "--- a/src/f.txt\n+++ b/src/f.txt\n",
            "--- old/src/f.txt\n+++ new/src/f.txt\n",
        ],
    )
    def test_the_named_file_is_changed_and_no_other(self, tmp_path: Path, headers: str) -> None:
        """Not the file of that name one folder further up."""
        assert applied_to(tmp_path / "w", self.SAME, headers + "@@ -1 +1 @@\n-1\n+2\n").applied
        assert {"f.txt": "1\n", "src/f.txt": "2\n"} == read(tmp_path / "w")

    @pytest.mark.parametrize("headers", ["--- a/x\n+++ a/x\n", "--- b/x\n+++ b/x\n"])
    def test_a_folder_may_be_called_like_a_prefix(self, tmp_path: Path, headers: str) -> None:
        """If the file is there under its whole name, that is the name; else it is a prefix."""
        name = headers[4:7]
        assert applied_to(tmp_path / "w", {name: "1\n", "x": "1\n"}, headers + "@@ -1 +1 @@\n-1\n+2\n").applied
        assert {name: "2\n", "x": "1\n"} == read(tmp_path / "w")
        assert applied_to(tmp_path / "v", {"x": "1\n"}, headers + "@@ -1 +1 @@\n-1\n+2\n").applied
        assert {"x": "2\n"} == read(tmp_path / "v")

    def test_new_and_deleted_files(self, tmp_path: Path) -> None:
        """A new file comes where it is named, and the named one goes."""
        patch = "--- /dev/null\n+++ src/n.py\n@@ -0,0 +1 @@\n+1\n--- src/f.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
        assert applied_to(tmp_path / "w", self.SAME, patch).applied
        assert {"f.txt": "1\n", "src/n.py": "1\n"} == read(tmp_path / "w")

    def test_a_mixture_is_refused(self, tmp_path: Path) -> None:
        """git strips all names alike, and would so change the wrong file."""
        patch = "--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-1\n+2\n--- src/f.txt\n+++ src/f.txt\n@@ -1 +1 @@\n-1\n+2\n"
        expect_refusal(tmp_path / "w", self.SAME, patch, NOT_CLEAN)


class TestPlaces:
    """B30 and B36: where a hunk goes."""

    def test_no_hunk_is_put_where_its_context_is_not(self, tmp_path: Path) -> None:
        """A change of a function that is not there changes no other one."""
        files = {"m.py": "def f():\n    x = 1\n    return x\n\ndef g():\n    x = 1\n    return x\n"}
        patch = "--- a/m.py\n+++ b/m.py\n@@ -9,3 +9,3 @@\n def h():\n-    x = 1\n+    x = 2\n     return x\n"
        applied = expect_refusal(tmp_path / "w", files, patch, NOT_CLEAN)
        assert "patch does not apply" in applied.detail

    def test_one_bad_hunk_leaves_all_files_alone(self, tmp_path: Path) -> None:
        """No half-applied tree."""
        patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-9\n+2\n"
        expect_refusal(tmp_path / "w", {"f": "1\n", "g": "1\n"}, patch, NOT_CLEAN)

    @pytest.mark.parametrize(
        ("hunk", "expected"),
        [
            ("@@ -1,0 +2 @@\n+X\n", "a\nX\nb\nc\n"),
            ("@@ -2,0 +3,2 @@\n+X\n+Y\n", "a\nb\nX\nY\nc\n"),
            ("@@ -0,0 +1 @@\n+X\n", "X\na\nb\nc\n"),
            ("@@ -3,0 +4 @@\n+X\n", "a\nb\nc\nX\n"),
            ("@@ -2 +2 @@\n-b\n+X\n", "a\nX\nc\n"),
            ("@@ -1,0 +2 @@\n+X\n@@ -3 +4,0 @@\n-c\n", "a\nX\nb\n"),
            ("@@ -9 +9 @@\n-b\n+X\n", "a\nX\nc\n"),
            ("@@ -2,7 +2,7 @@\n-b\n+X\n", "a\nX\nc\n"),
        ],
    )
    def test_hunks_without_context(self, tmp_path: Path, hunk: str, expected: str) -> None:
        """They go where their header says, or the only place where their removed lines stand; no count means 1."""
        assert applied_to(tmp_path / "w", {"f": "a\nb\nc\n"}, f"--- a/f\n+++ b/f\n{hunk}").applied
        assert {"f": expected} == read(tmp_path / "w")

    @pytest.mark.parametrize(
        "hunk",
        [
            "@@ -2,0 +7 @@\n+X\n",
            "@@ -9,0 +10 @@\n+X\n",
            "@@ -2,3 +2,4 @@\n+X\n",
            "@@ -1 +1 @@\n-x\n+Y\n",
            "@@ -3,2 +3,2 @@\n-x\n+Y\n",
        ],
    )
    def test_no_uncertain_place_without_context(self, tmp_path: Path, hunk: str) -> None:
        """git alone would put some of these at the end of the file."""
        files = {"f": "a\nx\nb\nx\n"}
        expect_refusal(tmp_path / "w", files, f"--- a/f\n+++ b/f\n{hunk}", NOT_CLEAN)

    def test_the_header_decides_between_equal_lines(self, tmp_path: Path) -> None:
        """The second line is changed, not its double at the end."""
        assert applied_to(tmp_path / "w", {"f": "a\nx\nb\nx\n"}, "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-x\n+Y\n").applied
        assert {"f": "a\nY\nb\nx\n"} == read(tmp_path / "w")


class TestBinary:
    """B31: a binary change without its bytes."""

    STUB = "diff --git a/app b/app\nnew file mode 100755\nindex 000..123\nBinary files /dev/null and b/app differ\n"
    TEXT = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n"

    @pytest.mark.parametrize("patch", [STUB + TEXT, TEXT + STUB, TEXT + "Binary file added: app\n"])
    def test_the_text_part_is_applied_with_a_warning(self, tmp_path: Path, patch: str) -> None:
        """A compiled file that was collected by accident does not cost the change."""
        applied = applied_to(tmp_path / "w", {"f": "1\n"}, patch)
        assert (True, {"f": "2\n"}) == (applied.applied, read(tmp_path / "w"))
        assert applied.stderr.startswith("Binary change left out, the diff does not hold its bytes: ")
        assert "app" in applied.stderr

    def test_nothing_else_in_it_is_a_refusal(self, tmp_path: Path) -> None:
        """A patch of which nothing can be applied is not applied."""
        expect_refusal(tmp_path / "w", {"f": "1\n"}, self.STUB, NOT_CLEAN)

    def test_a_binary_change_with_its_bytes_is_applied(self, tmp_path: Path) -> None:
        """What `git diff --binary` wrote."""
        before = write(tmp_path / "before", {"b": b"\xff\0\1"})
        git(before, "init", "--quiet")
        git(before, "add", "b")
        (before / "b").write_bytes(b"\xff\0\2\3")
        patch = git(before, "diff", "--binary")
        assert applied_to(tmp_path / "w", {"b": b"\xff\0\1"}, patch).applied
        assert {"b": b"\xff\0\2\3"} == read(tmp_path / "w")


class TestCollected:
    """B32: what an agent's changes are collected as."""

    BASE: ClassVar = {"f.txt": "1\n2\n", "old.py": "x = 1\n", ".gitignore": "*.log\n"}

    def changed(self, tmp_path: Path) -> tuple[Path, Path]:
        source, workspace = write(tmp_path / "s", self.BASE), write(tmp_path / "w", self.BASE)
        (workspace / "old.py").unlink()
        write(workspace, {"n.py": "y = 2\n", "a.log": "ignored\n", "f.txt": "1\n3\n"})
        return source, workspace

    def test_new_deleted_empty_and_ignored_files_are_there(self, tmp_path: Path) -> None:
        """Nothing is ignored, and no index is asked."""
        source, workspace = self.changed(tmp_path)
        write(workspace, {"pkg/__init__.py": ""})
        diff = capture(source, workspace).decode()
        names = [line[6:] for line in diff.splitlines() if line.startswith(("+++ b/", "--- a/"))]
        assert ["a.log", "f.txt", "f.txt", "n.py", "old.py", "pkg/__init__.py"] == names

    def test_the_agent_s_index_is_as_it_was(self, tmp_path: Path) -> None:
        """An agent's own repository is read like any other folder."""
        source, workspace = self.changed(tmp_path)
        git(workspace, "init", "--quiet")
        git(workspace, "add", "f.txt")
        before = digests.of_folder(workspace)
        assert b"+++ b/.git/HEAD\n" in capture(source, workspace)
        assert before == digests.of_folder(workspace)

    def test_the_diff_leads_from_the_base_to_the_same_tree(self, tmp_path: Path) -> None:
        """For text with final line ends, which is all that such a diff can carry."""
        source, workspace = self.changed(tmp_path)
        assert apply_response(source, fenced(capture(source, workspace).decode()), None).applied
        assert digests.of_folder(workspace) == digests.of_folder(source)


class TestGitHeaders:
    """B33 and B34: renames, modes, empty files and odd names."""

    def test_rename_empty_file_and_mode(self, tmp_path: Path) -> None:
        """As git does them."""
        patch = (
            "diff --git a/f.txt b/g h.txt\nsimilarity index 100%\nrename from f.txt\nrename to g h.txt\n"
            "diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n"
            "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
        )
        assert applied_to(tmp_path / "w", {"f.txt": "1\n", "run.sh": "ls\n"}, patch).applied
        assert {"g h.txt": "1\n", "e": "", "run.sh": "ls\n"} == read(tmp_path / "w")
        assert (tmp_path / "w/run.sh").stat().st_mode & stat.S_IXUSR

    @pytest.mark.parametrize(
        ("headers", "name"),
        [
            (
                r'diff --git "a/caf\303\251 1.txt" "b/caf\303\251 1.txt"' + "\nnew file mode 100644\n"
                r"--- /dev/null" + "\n" + r'+++ "b/caf\303\251 1.txt"' + "\n",
                "café 1.txt",
            ),
            ("--- /dev/null\n+++ b/f.txt\tMon Nov 30 2026\n", "f.txt"),
            ("--- /dev/null\n+++ b/two  blanks.txt\n", "two  blanks.txt"),
            ("--- /dev/null\n+++ b/grün/ä.txt\n", "grün/ä.txt"),
            ('--- /dev/null\n+++ "b/quo\\"te\\\\\\t.txt"\n', 'quo"te\\\t.txt'),
        ],
    )
    def test_odd_names_are_read_as_git_reads_them(self, tmp_path: Path, headers: str, name: str) -> None:
        """The file has the very name that our own reader finds."""
        patch = headers + "@@ -0,0 +1 @@\n+1\n"
        assert applied_to(tmp_path / "w", {}, patch).applied
        assert {name: "1\n"} == read(tmp_path / "w")
        assert {f"b/{name}"} == {section.names[1] for section in read_diff(patch).sections}

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ('"b/open', "malformed quoted path"),
            ('"b/\\q"', "malformed quoted path"),
            ('"b/\\000"', "path contains a null byte"),
            ("b/\0", "path contains a null byte"),
        ],
    )
    def test_names_that_are_none(self, tmp_path: Path, name: str, why: str) -> None:
        """Each is refused in the format's words."""
        expect_refusal(tmp_path / "w", {}, f"--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+1\n", why)


class TestLeavingTheWorkspace:
    """B35: a patch that leaves the workspace is a breach of the rules, not a patch that failed."""

    NEW = "@@ -0,0 +1 @@\n+1\n"
    LINK = "diff --git a/ln b/ln\nnew file mode 120000\n--- /dev/null\n+++ b/ln\n@@ -0,0 +1 @@\n+{}\n"
    NO_NEWLINE = "\\ No newline at end of file\n"

    @pytest.mark.parametrize(
        ("patch", "why"),
        [
            (f"--- /dev/null\n+++ b/../evil.txt\n{NEW}", "path escapes workspace: ../evil.txt"),
            (f"--- /dev/null\n+++ /etc/x\n{NEW}", "path escapes workspace: /etc/x"),
            (f"--- /dev/null\n+++ b//etc/x\n{NEW}", "path escapes workspace: /etc/x"),
            (f"--- /dev/null\n+++ b/out/x\n{NEW}", "path escapes workspace: out/x"),
            (LINK.format("/tmp/out") + NO_NEWLINE, "path escapes workspace: ln"),
            (LINK.format("/tmp/out").replace("120000", " 0120777") + NO_NEWLINE, "path escapes workspace: ln"),
            (LINK.format("/tmp/out").replace("+1 @@", "+0,0 @@") + NO_NEWLINE, "path escapes workspace: ln"),
            (LINK.format("../../out") + f"--- /dev/null\n+++ b/ln/x\n{NEW}", "path escapes workspace: ln"),
            (
                f"--- a/own\n+++ b/own\n@@ -1 +1 @@\n-f\n{NO_NEWLINE}+/etc/passwd\n{NO_NEWLINE}",
                "path escapes workspace: own",
            ),
            (
                f"--- /dev/null\n+++ b/.git/hooks/post-checkout\n{NEW}",
                "path is inside .git: .git/hooks/post-checkout",
            ),
            (f"--- /dev/null\n+++ b/sub/.GIT/config\n{NEW}", "path is inside .git: sub/.GIT/config"),
            (
                "diff --git a/f b/f\nsimilarity index 100%\nrename from f\nrename to ../f\n",
                "path escapes workspace: ../f",
            ),
            (
                "diff --git a/lib b/lib\nnew file mode 160000\n--- /dev/null\n+++ b/lib\n@@ -0,0 +1 @@\n"
                "+Subproject commit 0123456789012345678901234567890123456789\n",
                "path is a submodule: lib",
            ),
        ],
    )
    def test_refused_by_name(self, tmp_path: Path, patch: str, why: str) -> None:
        """And nothing is written, inside or outside."""
        files: Files = {"f": "1\n", "out": {"symlink": str(tmp_path)}, "own": {"symlink": "f"}}
        if "own" in why:
            assert apply_response(
                write(tmp_path / "v", {"f": "1\n", "g": "1\n", "own": {"symlink": "f"}}),
                fenced(patch.replace("/etc/passwd", "g")),
                None,
            ).applied
        expect_refusal(tmp_path / "w", files, patch, why)
        assert not {"evil.txt", "x", "out"} & {place.name for place in tmp_path.iterdir()}

    def test_a_link_that_stays_inside_is_made(self, tmp_path: Path) -> None:
        """Links are no breach by themselves."""
        patch = self.LINK.format("f") + self.NO_NEWLINE
        assert applied_to(tmp_path / "w", {"f": "1\n"}, patch).applied
        assert {"symlink": "f"} == read(tmp_path / "w")["ln"]


def test_a_file_that_is_there_already_is_named(tmp_path: Path) -> None:
    """B37: nothing is reversed, nothing half done; git's words, which name the file, are kept."""
    patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n--- /dev/null\n+++ b/build/lib/x.py\n@@ -0,0 +1 @@\n+1\n"
    files = {"f": "1\n", "build/lib/x.py": "1\n"}
    applied = expect_refusal(tmp_path / "w", files, patch, NOT_CLEAN)
    assert "build/lib/x.py: already exists" in applied.detail


class TestOtherForms:
    """B38: whole files, and forms that the format does not know."""

    @pytest.mark.parametrize("name", ["main.py", "1. **main.py**", "**main.py**", "`main.py`", "2. `main.py`"])
    def test_a_decorated_file_name_is_cleaned(self, tmp_path: Path, name: str) -> None:
        """No file called `**main.py**` appears."""
        assert applied_to(tmp_path / "w", {"main.py": "1\n"}, f"*** Begin File: {name}\n2\n*** End File\n").applied
        assert {"main.py": "2\n"} == read(tmp_path / "w")

    def test_a_file_that_really_has_such_a_name_keeps_it(self, tmp_path: Path) -> None:
        """A name is cleaned only if no such file exists."""
        patch = "*** Begin File: 1. **x**\n2\n*** End File\n"
        assert applied_to(tmp_path / "w", {"1. **x**": "1\n"}, patch).applied
        assert {"1. **x**": "2\n"} == read(tmp_path / "w")

    @pytest.mark.parametrize("remark", ["no changes needed", "No changes", "unchanged"])
    def test_a_block_that_says_it_changes_nothing_is_ignored(self, tmp_path: Path, remark: str) -> None:
        """Its text, often a placeholder, replaces no file."""
        applied = applied_to(tmp_path / "w", {"a": "1\n"}, f"*** Begin File: a ({remark})\n...\n*** End File\n")
        why = "block says that its file has no changes"
        assert f"Replacement file rejected: {why}; workspace left unchanged.\n" == applied.stderr
        assert {"a": "1\n"} == read(tmp_path / "w")

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ("```diff\na\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n```\n", "patch_rejected"),
            ("a\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n", "invalid_format"),
            (fenced("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-9\n+2\n"), "patch_rejected"),
            (fenced("*** Begin File: a\n2\n"), "patch_rejected"),
            ("Just do it.", "invalid_format"),
            ("", "no_response"),
        ],
    )
    def test_unusable_edits_are_counted_apart_from_wrong_answers(
        self, tmp_path: Path, answer: str, reason: str
    ) -> None:
        """SEARCH/REPLACE is not guessed at: the format has no such blocks."""
        applied = apply_response(write(tmp_path / "w", {"a": "1\n"}), answer, None)
        assert (False, reason, {"a": "1\n"}) == (applied.applied, applied.reason, read(tmp_path / "w"))


@pytest.mark.parametrize("body", ["", "\n", "  \n\t\n"])
def test_an_empty_patch_is_called_so(tmp_path: Path, body: str) -> None:
    """B39: it does not count as applied, and what it leaves is captured as nothing."""
    source = write(tmp_path / "s", {"a": "1\n"})
    applied = expect_refusal(tmp_path / "w", {"a": "1\n"}, body, "fenced patch block is empty")
    assert "empty_patch" == applied.reason
    assert b"" == capture(source, tmp_path / "w")
