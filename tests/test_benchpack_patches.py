"""A model's patch is applied, and a workspace captured, as the format's known cases say."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from patches_support import fenced, read, vectors, write
from regrade.cli import main
from regrade.errors import SandboxError
from regrade.patches.apply import apply_response
from regrade.patches.fenced import first_block
from regrade.patches.snapshot import capture

PATCHES, DIFFS = vectors("patch"), vectors("diff")
NOT_CLEAN = "Patch rejected: unified diff could not be applied cleanly; workspace left unchanged.\n"
CHANGE = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"
GIT_CHANGE = "diff --git a/f b/f\n" + CHANGE


@pytest.mark.parametrize("case", [case for case in PATCHES if not case.get("quirk")], ids=lambda case: case["id"])
def test_answers_are_applied_as_the_vectors_say(tmp_path: Path, case: dict[str, Any]) -> None:
    """The block found, both logs, and every file afterwards."""
    workspace, expected = write(tmp_path / "w", case["input"]["workspace"]), case["expected"]
    assert expected["block"] == first_block(case["input"]["response"])
    applied = apply_response(workspace, case["input"]["response"], 30.0)
    found = (applied.applied, applied.stdout, applied.stderr, read(workspace))
    assert (expected["applied"], expected["stdout"], expected["stderr"], expected["files"]) == found
    assert applied.applied == (applied.reason == "")


@pytest.mark.parametrize("case", [case for case in DIFFS if not case.get("quirk")], ids=lambda case: case["id"])
def test_folders_are_compared_as_the_vectors_say(tmp_path: Path, case: dict[str, Any]) -> None:
    """The captured diff, byte for byte."""
    source = write(tmp_path / "s", case["input"]["source"])
    workspace = write(tmp_path / "w", case["input"]["workspace"])
    assert case["expected"]["diff"].encode() == capture(source, workspace)


def test_quirk_pa_content_dashes(tmp_path: Path) -> None:
    """A removed line that starts with `-- ` is content, not a header: the patch applies."""
    (case,) = (case for case in PATCHES if case.get("quirk"))
    workspace = write(tmp_path / "w", case["input"]["workspace"])
    assert apply_response(workspace, case["input"]["response"], None).applied
    assert {"q.sql": "select 1;\n"} == read(workspace)


def test_quirk_df_splitlines(tmp_path: Path) -> None:
    """Only a line feed ends a line: a form feed or U+2028 is a character like others."""
    (case,) = (case for case in DIFFS if case.get("quirk"))
    source, workspace = (
        write(tmp_path / "s", case["input"]["source"]),
        write(tmp_path / "w", case["input"]["workspace"]),
    )
    assert b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-p\x0cq\n+p\x0cr\n" == capture(source, workspace)


class TestWhereGitRuns:
    """The result is the same wherever the workspace lies and however this machine's git is set up."""

    def repository(self, folder: Path, config: str = "") -> Path:
        subprocess.run(["git", "init", "--quiet", str(folder)], check=True, capture_output=True)
        with (folder / ".git/config").open("a") as stream:
            stream.write(config)
        return folder

    @pytest.mark.parametrize("change", [CHANGE, GIT_CHANGE])
    @pytest.mark.parametrize("place", ["results/w", "."])
    def test_inside_another_work_tree(self, tmp_path: Path, change: str, place: str) -> None:
        """git alone says that all is well there, and changes nothing."""
        workspace = write(self.repository(tmp_path / "outer") / place, {"f": "1\n2\n"})
        assert apply_response(workspace, fenced(change), None).applied
        assert "1\n3\n" == (workspace / "f").read_text()

    def test_the_user_s_settings_have_no_say(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Neither those in files nor those in the environment."""
        config = write(tmp_path / "home", {".gitconfig": "[apply]\nwhitespace = fix\n[core]\nautocrlf = true\n"})
        monkeypatch.setenv("HOME", str(config))
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config / ".gitconfig"))
        monkeypatch.setenv("GIT_DIR", "/nowhere")
        monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'apply.whitespace=error-all'")
        workspace = write(tmp_path / "w", {"f": "1\n2\n"})
        assert apply_response(workspace, fenced(CHANGE.replace("+3", "+3  ")), None).applied
        assert b"1\n3  \n" == (workspace / "f").read_bytes()

    def test_the_workspace_s_own_settings_have_no_say(self, tmp_path: Path) -> None:
        """A repository in the workspace whose attributes and filters would rewrite every line."""
        config = '[core]\nautocrlf = true\n[filter "up"]\nsmudge = tr a-z A-Z\nclean = tr a-z A-Z\n'
        workspace = write(
            self.repository(tmp_path / "w", config),
            {".gitattributes": "* text eol=crlf filter=up ident\n", "f": "a $Id$\nb\nc\n1\n2\n"},
        )
        patch = "--- a/f\n+++ b/f\n@@ -3,3 +3,3 @@\n c\n 1\n-2\n+three\n"
        assert apply_response(workspace, fenced(patch), None).applied
        assert b"a $Id$\nb\nc\n1\nthree\n" == (workspace / "f").read_bytes()

    def test_through_a_link_to_the_workspace(self, tmp_path: Path) -> None:
        """As where a temporary folder is a link."""
        write(tmp_path / "real", {"f": "1\n2\n"})
        (tmp_path / "link").symlink_to("real")
        assert apply_response(tmp_path / "link", fenced(GIT_CHANGE), None).applied
        assert "1\n3\n" == (tmp_path / "real/f").read_text()


class TestBytes:
    """Bytes that a patch does not touch stay as they are."""

    def test_line_ends(self, tmp_path: Path) -> None:
        """A CRLF file keeps its line ends, a file with both kinds each of them."""
        workspace = write(tmp_path / "w", {"f": "1\r\n2\r\n3\r\n", "g": "x\r\ny\rz\r\n\x0c\n1\n2\nend"})
        crlf = "--- a/f\r\n+++ b/f\r\n@@ -1,3 +1,3 @@\r\n 1\r\n-2\r\n+two\r\n 3\r\n"
        assert apply_response(workspace, fenced(crlf), None).applied
        assert b"1\r\ntwo\r\n3\r\n" == (workspace / "f").read_bytes()
        lf = "--- a/g\n+++ b/g\n@@ -4,2 +4,2 @@\n 1\n-2\n+two\n end\n\\ No newline at end of file\n"
        assert apply_response(workspace, fenced(lf), None).applied
        assert b"x\r\ny\rz\r\n\x0c\n1\ntwo\nend" == (workspace / "g").read_bytes()

    def test_other_line_ends_than_the_file_s_are_refused(self, tmp_path: Path) -> None:
        """Both ways."""
        workspace = write(tmp_path / "w", {"f": "1\r\n2\r\n"})
        assert NOT_CLEAN == apply_response(workspace, fenced(CHANGE), None).stderr
        assert b"1\r\n2\r\n" == (workspace / "f").read_bytes()

    def test_text_that_is_not_utf_8(self, tmp_path: Path) -> None:
        """An answer's bytes reach the file as they are."""
        workspace = write(tmp_path / "w", {"f": b"1\n\xe9\n"})
        answer = fenced("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n 1\n-\udce9\n+\udce8\n")
        assert apply_response(workspace, answer, None).applied
        assert b"1\n\xe8\n" == (workspace / "f").read_bytes()
        assert NOT_CLEAN == apply_response(workspace, fenced(CHANGE.replace("3", "\ud800")), None).stderr

    def test_a_replaced_file_keeps_its_mode_and_its_pristine_double(self, tmp_path: Path) -> None:
        """The old file may be a link to the task's inputs."""
        workspace = write(tmp_path / "w", {"run.sh": "old\n"})
        (workspace / "run.sh").chmod(0o755)
        os.link(workspace / "run.sh", tmp_path / "pristine")
        answer = fenced("*** Begin File: run.sh\r\nnew\r\nlast\r*** End File\n*** End File\t\n\n")
        assert apply_response(workspace, answer, None).applied
        assert "new\nlast\n*** End File\n" == (workspace / "run.sh").read_bytes().decode()
        assert 0o755 == (workspace / "run.sh").stat().st_mode & 0o777
        assert "old\n" == (tmp_path / "pristine").read_text()

    def test_a_link_in_the_workspace_is_written_through(self, tmp_path: Path) -> None:
        """The link stays a link."""
        workspace = write(tmp_path / "w", {"d/f": "old\n", "l": {"symlink": "d/f"}})
        assert apply_response(workspace, fenced("*** Begin File: l\nnew\n*** End File\n"), None).applied
        assert {"d/f": "new\n", "l": {"symlink": "d/f"}} == read(workspace)


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("*** Begin File: \nx\n*** End File\n", "missing file path"),
        ("*** Begin File: a\nx\n", "missing end marker"),
        ("*** Begin File: a\nx\n *** End File\n", "missing end marker"),
        ("*** Begin File: a\n", "missing end marker"),
        ("*** Begin File: a\n*** End File\n", "empty file content"),
        ("*** Begin File: ../a\nx\n*** End File\n", "path escapes workspace: ../a"),
        ("*** Begin File: d\nx\n*** End File\n", "target path is a directory"),
        ("*** Begin File: .\nx\n*** End File\n", "target path is a directory"),
        ("*** Begin File: .git/config\nx\n*** End File\n", "path is inside .git: .git/config"),
        ("*** Begin File: new/" + "n" * 300 + "\nx\n*** End File\n", "workspace file could not be written"),
        ("*** Begin File: loop/x\nx\n*** End File\n", "workspace file could not be written"),
        ("*** Begin File: a\n\ud800\n*** End File\n", "workspace file could not be written"),
        ("*** Begin File: a\ud800\nx\n*** End File\n", "workspace file could not be written"),
    ],
)
def test_replacements_that_are_refused(tmp_path: Path, block: str, why: str) -> None:
    """Each in its words, and the workspace, folders included, is as it was."""
    workspace = write(tmp_path / "w", {"d/f": "1\n", "a": "1\n", "loop": {"symlink": "loop"}})
    before = sorted(workspace.rglob("*"))
    applied = apply_response(workspace, fenced(block), None)
    assert f"Replacement file rejected: {why}; workspace left unchanged.\n" == applied.stderr
    assert before == sorted(workspace.rglob("*"))
    assert "1\n" == (workspace / "a").read_text()


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("```diff\nx\n", None),
        ("```diff", None),
        ("```text\n```diff\nx\n```\ny\n", None),
        ("```text\n```\n```diff\nx\n``` \t\ny", "x\n"),
        ("```diff\nx\n ```\n````\n```\r\n", "x\n ```\n````\n"),
        ("```Diff\nx\n```\n", None),
        ("```diff\na\u2028```\n```\n", "a\u2028```\n"),
    ],
)
def test_only_closed_fences_in_column_one_count(text: str, block: str | None) -> None:
    """Blocks of other kinds are passed over whole, whatever stands in them."""
    assert block == first_block(text)


class TestWhenGitFails:
    """git that is missing, too slow or broken halfway; these programs stand for it on the PATH."""

    def stand_in(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
        program = write(tmp_path / "bin", {"git": f"#!/bin/sh\n{script}"}) / "git"
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        return write(tmp_path / "w", {"f": "1\n2\n"})

    def test_a_slow_preflight(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The workspace is as it was, and the trial goes on."""
        workspace = self.stand_in(tmp_path, monkeypatch, "exec sleep 9")
        applied = apply_response(workspace, fenced(CHANGE), 0.2)
        assert "Patch rejected: git apply --check timed out; workspace left unchanged.\n" == applied.stderr
        assert (False, "agent_timeout") == (applied.applied, applied.reason)

    def test_a_slow_application(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nobody knows what the workspace is then."""
        script = 'case "$*" in *--check*) exit 0;; esac; exec sleep 9'
        workspace = self.stand_in(tmp_path, monkeypatch, script)
        with pytest.raises(SandboxError, match=r"git apply was stopped after 0\.5 s"):
            apply_response(workspace, fenced(CHANGE), 0.5)

    def test_an_application_that_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Said in the format's words."""
        script = 'case "$*" in *--check*) exit 0;; esac; echo "error: disk" >&2; exit 1'
        applied = apply_response(self.stand_in(tmp_path, monkeypatch, script), fenced(CHANGE), None)
        words = "Patch application failed after preflight; workspace may be partially changed.\n"
        assert (False, "patch_rejected", words) == (applied.applied, applied.reason, applied.stderr)
        assert "error: disk\n" == applied.detail

    def test_no_git(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not the model's doing."""
        monkeypatch.setenv("PATH", str(tmp_path))
        applied = apply_response(write(tmp_path / "w", {"f": "1\n2\n"}), fenced(CHANGE), None)
        assert "Patch rejected: git executable not found; workspace left unchanged.\n" == applied.stderr
        assert "sandbox_error" == applied.reason

    def test_no_workspace(self, tmp_path: Path) -> None:
        """Not the model's doing either."""
        applied = apply_response(tmp_path / "none", fenced(CHANGE), None)
        assert "Patch rejected: workspace could not be accessed; workspace left unchanged.\n" == applied.stderr
        assert "sandbox_error" == applied.reason


def regrade(*words: object, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "regrade.cli", "patch", *map(str, words)]
    return subprocess.run(command, capture_output=True, input=stdin, check=False)


class TestCommand:
    """`regrade patch`."""

    def test_apply(self, tmp_path: Path) -> None:
        """One JSON object on stdout; exit code 0 applied, 1 not, git's own words on stderr."""
        workspace = write(tmp_path / "w", {"f": "1\n2\n"})
        write(tmp_path, {"answer.md": fenced(CHANGE)})
        done = regrade("apply", workspace, "--response", tmp_path / "answer.md")
        expected = {"applied": True, "stdout": "Applied fenced model patch to workspace.\n", "stderr": ""}
        assert (0, expected, b"") == (done.returncode, json.loads(done.stdout), done.stderr)
        done = regrade("apply", workspace, "--response", tmp_path / "answer.md")
        assert (1, {"applied": False, "stdout": "", "stderr": NOT_CLEAN}) == (done.returncode, json.loads(done.stdout))
        assert b"error: patch failed: f:1\n" in done.stderr

    def test_capture(self, tmp_path: Path) -> None:
        """The diff as bytes, also where it is no UTF-8; exit code 0."""
        source, workspace = write(tmp_path / "s", {"f": "1\n"}), write(tmp_path / "w", {"f": "2\n"})
        (workspace / os.fsdecode(b"\xe9")).write_text("")
        done = regrade("capture", source, workspace)
        expected = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n--- /dev/null\n+++ b/\xe9\n"
        assert (0, expected, b"") == (done.returncode, done.stdout, done.stderr)

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["apply", "none", "--response", "a"], "none: is no folder"),
            (["apply", ".", "--response", "none"], "none: No such file or directory, expected a file"),
            (["capture", ".", "none"], "none: is no folder"),
        ],
    )
    def test_misuse(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        words: list[str],
        message: str,
    ) -> None:
        """Exit code 2 and one line."""
        monkeypatch.chdir(tmp_path)
        assert 2 == main(["patch", *words])
        assert message in capsys.readouterr().err
